#pragma once

#include <hostler/driver.hpp>
#include <string>

#include "account.h"
#include "config.h"
#include "dials.h"
#include "interruptions.h"
#include "store.h"

namespace hostler::local {

/// The driver: one set of instances, each an sshd on this machine. It has no threads but those of
/// watches, and everything that it keeps in memory is also on disk. hostler/driver.h specifies the
/// functions.
class LocalSet {
 public:
  static driver::About about();

  LocalSet(const hostler_host& host, const hostler_set_config& config, hostler_op* op);

  void info(const hostler_set_info_req& request, hostler_op* op);
  void create(const hostler_create_req& request, hostler_op* op);
  void list(const hostler_list_req& request, hostler_op* op);
  void destroy(const hostler_destroy_req& request, hostler_op* op);
  void set_tags(const hostler_set_tags_req& request, hostler_op* op);

  void verify(const hostler_verify_req& request, hostler_op* op);
  void price_history(const hostler_price_req& request, hostler_op* op);
  void offerings(const hostler_offerings_req& request, hostler_op* op);
  void start(const hostler_power_req& request, hostler_op* op);
  void stop(const hostler_power_req& request, hostler_op* op);
  void read_console(const hostler_console_req& request, hostler_op* op);
  hostler_status watch(const hostler_interruption_req& request, hostler_op* op);

 private:
  static std::int64_t now_ns();  ///< Wall time.
  bool answer_known(const Record& asked, hostler_op* op);
  void make(const struct CreateSpec& spec, hostler_op* op);
  void emit_found(const Found& found, hostler_op* op, const Notices& notices = {});
  void emit_offerings(const std::string& name, const TypeConfig& type, std::uint32_t market,
                      hostler_op* op);
  std::shared_ptr<const Record> ours(const std::string& id, const hostler_str& expected_set);

  const hostler_host& host_;
  const std::string set_id_;
  Tags shared_tags_;
  const Config config_;
  const Account account_;
  DialBoard dials_;
  InstanceStore store_;
  NoticeWatches watches_;
};

}  // namespace hostler::local
