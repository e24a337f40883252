// A cloud whose driver dies: in each create of a type whose name ends with "-poison", and in each
// destroy and list while the file `die_in_destroy` or `die_in_list` is in its folder. It appends
// each call to the file `calls` there, before anything else. Machines are files, and never boot.
#include <hostler/driver.hpp>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace {

namespace driver = hostler::driver;
using driver::str;
using driver::view;

/// The folder of {"folder": "/..."}.
std::string folder_of(std::string_view config) {
  const auto key = config.find("\"folder\"");
  const auto begin = config.find('"', config.find(':', key)) + 1;
  return std::string(config.substr(begin, config.find('"', begin) - begin));
}

void die() {
  std::fputs("these are my last words\n", stderr);
  std::fflush(stderr);
  std::raise(SIGSEGV);
}

class MortalCloud {
 public:
  static driver::About about() {
    return {"mortal", "0.7", "test", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 16};
  }
  MortalCloud(const hostler_host&, const hostler_set_config& config, hostler_op*)
      : folder_(folder_of(view(config.config_json))), set_(view(config.set_id)) {}

  void info(const hostler_set_info_req&, hostler_op* op) {
    auto out = driver::set_info_record();
    out.account_id = str("mortal");
    out.capabilities =
        HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_TAGS_AT_CREATE | HOSTLER_CAP_USER_DATA;
    driver::emit(op, out);
  }

  void create(const hostler_create_req& request, hostler_op* op) {
    const std::string type(view(request.type->provider_type));
    note("create " + type);
    if (type.ends_with("-poison")) die();
    const std::string key(view(request.idempotency_key));
    std::ofstream(folder_ / ("m-" + key)) << view(request.owner);
    emit(key, op);
  }

  void list(const hostler_list_req&, hostler_op* op) {
    note("list");
    if (std::filesystem::exists(folder_ / "die_in_list")) die();
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (const auto name = entry.path().filename().string(); name.starts_with("m-"))
        emit(name.substr(2), op);
  }

  void destroy(const hostler_destroy_req& request, hostler_op*) {
    note("destroy");
    if (std::filesystem::exists(folder_ / "die_in_destroy")) die();
    std::filesystem::remove(folder_ / std::string(view(request.id)));
  }

  void set_tags(const hostler_set_tags_req&, hostler_op*) {}

 private:
  void note(const std::string& call) const {
    std::ofstream(folder_ / "calls", std::ios::app) << set_ + " " + call + "\n";
  }
  void emit(const std::string& key, hostler_op* op) const {
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

}  // namespace

HOSTLER_REGISTER(MortalCloud)
