#pragma once

#include <functional>
#include <hostler/driver.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api.h"
#include "config.h"
#include "create.h"
#include "instance.h"
#include "leftovers.h"
#include "offerings.h"

namespace hostler::lxd {

/// The driver: one set of instances, which are containers in one project of one LXD. It has no
/// threads, and keeps nothing in memory that LXD does not know. hostler/driver.h specifies the
/// functions.
class LxdSet {
 public:
  static driver::About about();

  LxdSet(const hostler_host& host, const hostler_set_config& config, hostler_op* op);
  /// For tests: `transport` leads to the server. Blocks and throws as set_open.
  LxdSet(const hostler_set_config& config, std::unique_ptr<Transport> transport, hostler_op* op);

  void info(const hostler_set_info_req& request, hostler_op* op);
  void create(const hostler_create_req& request, hostler_op* op);
  void list(const hostler_list_req& request, hostler_op* op);
  void destroy(const hostler_destroy_req& request, hostler_op* op);
  void set_tags(const hostler_set_tags_req& request, hostler_op* op);

  void start(const hostler_power_req& request, hostler_op* op);
  void stop(const hostler_power_req& request, hostler_op* op);
  void offerings(const hostler_offerings_req& request, hostler_op* op);
  void find_images(const hostler_images_req& request, hostler_op* op);
  void read_console(const hostler_console_req& request, hostler_op* op);
  void list_leftovers(const hostler_leftover_list_req& request, hostler_op* op);
  void destroy_leftover(const hostler_leftover_destroy_req& request, hostler_op* op);

 private:
  void look_at_server(hostler_op* op);
  [[nodiscard]] std::string project_path() const;
  std::optional<Instance> look(const std::string& name, hostler_op* op) const;
  std::optional<Instance> find(const std::string& name, hostler_op* op) const;
  std::optional<std::vector<Instance>> look_at(const std::set<std::string>& names,
                                               hostler_op* op) const;
  std::vector<Instance> look_at_all(hostler_op* op) const;
  Instance find_ours(const hostler_str& id, const hostler_str& expected_set, hostler_op* op) const;
  [[nodiscard]] std::vector<Place> places(hostler_op* op) const;
  void add_volumes(std::vector<Leftover>& to, hostler_op* op) const;
  std::vector<Leftover> volumes_and_profiles(hostler_op* op) const;
  [[nodiscard]] ProjectRoom project_room(hostler_op* op) const;
  Devices devices_for(const CreateSpec& spec, hostler_op* op) const;
  bool make(const CreateSpec& spec, hostler_op* op) const;
  void check_known(const CreateSpec& spec, const Instance& known) const;
  bool wait_until_made(const Answer& begun, hostler_op* op) const;
  void switch_on(const CreateSpec& spec, hostler_op* op) const;
  void remove_incomplete(const std::string& name, hostler_op* op) const;
  void remove(const std::string& name, hostler_op* op) const;
  void set_power(const std::string& name, const char* action, hostler_op* op) const;

  const std::string set_id_;
  const Config config_;
  const Tags shared_tags_;
  const Api api_;
  std::string account_, architecture_;
  bool has_cloud_init_keys_ = false;
  bool is_clustered_ = false;
};

}  // namespace hostler::lxd
