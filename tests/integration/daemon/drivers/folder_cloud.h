#pragma once

// A cloud in a folder, which {"folder": "/..."} names: its machines are files, and never boot.
// Calls that a driver notes are appended to the file `calls` there. Drivers of tests add what is
// special.
#include <hostler/driver.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace folder_cloud {

namespace driver = hostler::driver;
using driver::str;
using driver::view;

class FolderCloud {
 public:
  explicit FolderCloud(const hostler_set_config& config)
      : folder_(folder_of(view(config.config_json))), set_(view(config.set_id)) {}

  void set_tags(const hostler_set_tags_req&, hostler_op*) {}

 protected:
  /// What each of these clouds can do; the account has the driver's name.
  static hostler_set_info info_of(const char* name) {
    auto out = driver::set_info_record();
    out.account_id = str(name);
    out.capabilities = HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_USER_DATA;
    return out;
  }
  void note(const std::string& call) const {
    std::ofstream(folder_ / "calls", std::ios::app) << call + "\n";
  }
  [[nodiscard]] bool has(const char* file) const { return std::filesystem::exists(folder_ / file); }
  [[nodiscard]] std::filesystem::path path_of(const char* file) const { return folder_ / file; }

  void make_machine(const hostler_create_req& request, hostler_op* op) const {
    const std::string key(view(request.idempotency_key));
    std::ofstream(folder_ / ("m-" + key)) << view(request.owner);
    emit_machine(key, op);
  }
  void emit_machines(hostler_op* op) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (const auto name = entry.path().filename().string(); name.starts_with("m-"))
        emit_machine(name.substr(2), op);
  }
  void remove_machine(const hostler_destroy_req& request) const {
    std::filesystem::remove(folder_ / std::string(view(request.id)));
  }

 private:
  static std::string folder_of(std::string_view config) {
    const auto key = config.find("\"folder\"");
    const auto begin = config.find('"', config.find(':', key)) + 1;
    return std::string(config.substr(begin, config.find('"', begin) - begin));
  }
  void emit_machine(const std::string& key, hostler_op* op) const {
    std::string owner;
    std::ifstream(folder_ / ("m-" + key)) >> owner;
    const std::string id = "m-" + key;
    auto out = driver::instance_record();
    out.id = str(id);
    out.idempotency_key = str(key);
    out.market = HOSTLER_MARKET_ON_DEMAND;
    out.set_id = str(set_);
    out.owner = str(owner);
    out.state = HOSTLER_STATE_PENDING;
    driver::emit(op, out);
  }

  const std::filesystem::path folder_;
  const std::string set_;
};

}  // namespace folder_cloud
