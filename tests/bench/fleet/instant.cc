// instant - a cloud that answers at once and whose machines never boot, for measuring the daemon
// alone. They outlive it, and are never destroyed: each is a line of the file that `machines` in
// the set's config names.
#include <fstream>
#include <hostler/driver.hpp>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace driver = hostler::driver;
using driver::str;
using driver::view;

struct Machine {
  std::string id, key, type;
  std::map<std::string, std::string> tags;
};

/// "id key type name=value..."; none of them has a space in it.
std::string line_of(const Machine& machine) {
  std::string line = machine.id + " " + machine.key + " " + machine.type;
  for (const auto& [name, value] : machine.tags) line.append(" ").append(name + "=" + value);
  return line;
}

void emit(const Machine& machine, hostler_op* op) {
  auto out = driver::instance_record();
  out.id = str(machine.id);
  out.idempotency_key = str(machine.key);
  out.market = HOSTLER_MARKET_ON_DEMAND;
  std::vector<hostler_kv> tags;
  for (const auto& [name, value] : machine.tags) {
    tags.push_back({str(name), str(value)});
    if (name == "hostler-set") out.set_id = str(value);
    if (name == "hostler-owner") out.owner = str(value);
  }
  out.tags = tags.data();
  out.n_tags = tags.size();
  out.state = HOSTLER_STATE_PENDING;
  driver::emit(op, out);
}

/// The value of `machines` in the config; empty: there is none. No path of the bench needs an
/// escape.
std::string machines_file(const std::string& config) {
  const std::string key = "\"machines\"";
  const auto found = config.find(key);
  if (found == std::string::npos) return {};
  const auto from = config.find('"', found + key.size()) + 1;
  return config.substr(from, config.find('"', from) - from);
}

class Instant {
 public:
  static driver::About about() {
    return {"instant", "0.1", "hostler", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 16};
  }

  Instant(const hostler_host&, const hostler_set_config& config, hostler_op*) {
    const auto path = machines_file(std::string(view(config.config_json)));
    if (path.empty()) throw driver::Error(HOSTLER_E_INVALID, "config.machines is missing");
    std::ifstream before(path);
    for (std::string line; std::getline(before, line);) recall(line);
    before.close();
    file_.open(path, std::ios::app);
  }

  void info(const hostler_set_info_req&, hostler_op* op) {
    auto out = driver::set_info_record();
    out.account_id = str("instant");
    out.capabilities = HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_USER_DATA;
    out.tags_max = 20;
    out.tag_key_max = out.tag_value_max = out.name_max = 128;
    driver::emit(op, out);
  }

  void create(const hostler_create_req& request, hostler_op* op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string key(view(request.idempotency_key));
    Machine& machine = machines_[key];
    if (machine.key.empty()) {
      machine.id = "m-" + std::to_string(++last_);
      machine.key = key;
      machine.type = view(request.type->provider_type);
      for (size_t i = 0; i < request.n_tags; ++i)
        machine.tags[std::string(view(request.tags[i].key))] = view(request.tags[i].value);
      file_ << line_of(machine) << std::endl;
    }
    emit(machine, op);
  }

  void list(const hostler_list_req&, hostler_op* op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [key, machine] : machines_) emit(machine, op);
  }

  void destroy(const hostler_destroy_req&, hostler_op*) {
    throw driver::Error(HOSTLER_E_INVALID, "these machines stay");
  }

  void set_tags(const hostler_set_tags_req&, hostler_op*) {}

 private:
  void recall(const std::string& line) {
    std::istringstream words(line);
    std::string tag;
    Machine machine;
    words >> machine.id >> machine.key >> machine.type;
    while (words >> tag) machine.tags[tag.substr(0, tag.find('='))] = tag.substr(tag.find('=') + 1);
    machines_[machine.key] = machine;
    ++last_;
  }

  std::mutex mutex_;
  std::map<std::string, Machine> machines_;  // by key
  std::ofstream file_;
  int last_ = 0;
};

}  // namespace

HOSTLER_REGISTER(Instant)
