#pragma once

#include <hostler/driver.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api.h"
#include "config.h"
#include "create.h"
#include "instance.h"
#include "key_pairs.h"
#include "known_notices.h"
#include "prices.h"
#include "terminator.h"
#include "transports.h"
#include "workers.h"

namespace hostler::ec2 {

/// The driver: one set of instances of one account in one region. It keeps nothing in memory that
/// EC2 does not know, except the notices that EC2 showed last. hostler/driver.h specifies the
/// functions.
class Ec2Set {
 public:
  static driver::About about();

  Ec2Set(const hostler_host& host, const hostler_set_config& config, hostler_op* op);
  /// For tests: `transports` lead to the servers. Blocks and throws as set_open.
  Ec2Set(const hostler_set_config& config, const Transports& transports, hostler_op* op);
  ~Ec2Set() { terminator_.stop(); }
  Ec2Set(const Ec2Set&) = delete;
  Ec2Set& operator=(const Ec2Set&) = delete;

  void info(const hostler_set_info_req& request, hostler_op* op);
  hostler_status create(const hostler_create_req& request, hostler_op* op);
  void list(const hostler_list_req& request, hostler_op* op);
  void destroy(const hostler_destroy_req& request, hostler_op* op);
  void set_tags(const hostler_set_tags_req& request, hostler_op* op);

  void start(const hostler_power_req& request, hostler_op* op);
  void stop(const hostler_power_req& request, hostler_op* op);
  void price_history(const hostler_price_req& request, hostler_op* op);
  void quota_group(const hostler_quota_group_req& request, hostler_op* op);
  void offerings(const hostler_offerings_req& request, hostler_op* op);
  void find_images(const hostler_images_req& request, hostler_op* op);
  void read_console(const hostler_console_req& request, hostler_op* op);
  void list_leftovers(const hostler_leftover_list_req& request, hostler_op* op);
  void destroy_leftover(const hostler_leftover_destroy_req& request, hostler_op* op);
  hostler_status watch(const hostler_interruption_req& request, hostler_op* op);

 private:
  void open(hostler_op* op);
  Zones zones(const std::string& subnet, hostler_op* op);
  std::string root_device(const std::string& image, hostler_op* op);
  void run(CreateSpec spec, hostler_op* op);
  Instance send_create(const CreateSpec& spec, hostler_op* op);
  void find_created(const CreateSpec& spec, const Refused& refused, hostler_op* op);
  [[nodiscard]] std::vector<Instance> look_at(const std::vector<std::string>& ids,
                                              hostler_op* op) const;
  void set_power(const char* action, const Instance& found, hostler_op* op) const;
  std::map<std::string, std::int64_t> read_on_demand_prices();
  void watch_until_cancelled(hostler_op* op);
  void emit(const Instance& instance, hostler_op* op);
  Instance find_ours(const hostler_str& id, const hostler_str& expected_set, hostler_op* op) const;

  const std::string set_id_;
  const Config config_;
  const Tags shared_tags_;
  const std::shared_ptr<KeySource> keys_;
  const Api ec2_, sts_;
  std::string account_;
  KeyPairs key_pairs_;
  std::mutex mutex_;
  Zones zones_;                                      ///< Under mutex_.
  std::map<std::string, std::string> root_devices_;  ///< By image, under mutex_.
  std::map<std::string, std::int64_t> on_demand_;    ///< As last read, under mutex_.
  SpotPrices spot_prices_;
  Terminator terminator_;
  KnownNotices notices_;  ///< As the last look has shown them, under mutex_.
  Workers workers_;       ///< The last: their tasks use all the rest.
};

}  // namespace hostler::ec2
