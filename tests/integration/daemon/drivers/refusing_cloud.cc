// A cloud that refuses: types whose name ends with "-small" are never made. "s-small" finds no room
// in a subnet that this driver has chosen, "g-small" meets the quota of its group. Other machines
// are lines in memory, which never boot.
#include <hostler/driver.hpp>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

namespace driver = hostler::driver;
using driver::Error;
using driver::str;
using driver::view;

struct Machine {
  std::string id, type;
  std::map<std::string, std::string> tags;
};

class RefusingCloud {
 public:
  static driver::About about() {
    return {"refusing_cloud", "0.1", "test", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 16};
  }
  RefusingCloud(const hostler_host&, const hostler_set_config&, hostler_op*) {}

  void info(const hostler_set_info_req&, hostler_op* op) {
    auto out = driver::set_info_record();
    out.account_id = str("refusing");
    out.capabilities = HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_USER_DATA;
    out.tags_max = 20;
    out.tag_key_max = out.tag_value_max = out.name_max = 128;
    driver::emit(op, out);
  }

  void quota_group(const hostler_quota_group_req& request, hostler_op* op) {
    if (view(request.type->provider_type).substr(0, 2) != "g-") return;
    auto group = driver::quota_group_record();
    group.name = str("standard");
    driver::emit(op, group);
  }

  void create(const hostler_create_req& request, hostler_op* op) {
    const std::string type(view(request.type->provider_type));
    if (type == "s-small")
      throw Error(HOSTLER_E_CAPACITY, "subnet-a is full").about(HOSTLER_SCOPE_SUBNET, "subnet-a");
    if (type == "g-small") throw Error(HOSTLER_E_QUOTA, "the quota of group 'standard' is used up");
    const std::lock_guard<std::mutex> lock(mutex_);
    Machine& machine = machines_[std::string(view(request.idempotency_key))];
    if (machine.id.empty()) {
      machine.id = "m-" + std::to_string(++last_);
      for (size_t i = 0; i < request.n_tags; ++i)
        machine.tags[std::string(view(request.tags[i].key))] = view(request.tags[i].value);
    }
    emit(std::string(view(request.idempotency_key)), machine, op);
  }

  void list(const hostler_list_req&, hostler_op* op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [key, machine] : machines_) emit(key, machine, op);
  }

  void destroy(const hostler_destroy_req& request, hostler_op*) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto at = machines_.begin(); at != machines_.end();)
      at = at->second.id == view(request.id) ? machines_.erase(at) : std::next(at);
  }

  void set_tags(const hostler_set_tags_req&, hostler_op*) {}

 private:
  static void emit(const std::string& key, const Machine& machine, hostler_op* op) {
    auto out = driver::instance_record();
    out.id = str(machine.id);
    out.idempotency_key = str(key);
    out.market = HOSTLER_MARKET_ON_DEMAND;
    out.set_id = str(machine.tags.at("hostler-set"));
    out.owner = str(machine.tags.at("hostler-owner"));
    std::vector<hostler_kv> tags;
    for (const auto& [name, value] : machine.tags) tags.push_back({str(name), str(value)});
    out.tags = tags.data();
    out.n_tags = tags.size();
    out.state = HOSTLER_STATE_PENDING;
    driver::emit(op, out);
  }

  std::mutex mutex_;
  std::map<std::string, Machine> machines_;  // by key
  int last_ = 0;
};

}  // namespace

HOSTLER_REGISTER(RefusingCloud)
