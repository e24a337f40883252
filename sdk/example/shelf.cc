// shelf - a whole driver, for reading and for starting one's own: a cloud whose machines are lines
// in this process's memory. They never boot, and are forgotten with the daemon.
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

using Tags = std::map<std::string, std::string>;

Tags tags_of(const hostler_kv* tags, size_t n) {
  Tags out;
  for (size_t i = 0; i < n; ++i) out[std::string(view(tags[i].key))] = view(tags[i].value);
  return out;
}

struct Machine {
  std::string id, key, type;
  Tags tags;
  uint32_t market = HOSTLER_MARKET_ON_DEMAND;
};

void emit(const Machine& machine, hostler_op* op) {
  auto out = driver::instance_record();
  out.id = str(machine.id);
  out.idempotency_key = str(machine.key);
  out.provider_type = str(machine.type);
  out.market = machine.market;
  // Whose it is comes back from the tags that it was made with: the host trusts nothing else.
  const auto tag = [&](const char* name) {
    const auto found = machine.tags.find(name);
    return found == machine.tags.end() ? hostler_str{} : str(found->second);
  };
  out.set_id = tag("hostler-set");
  out.owner = tag("hostler-owner");
  std::vector<hostler_kv> tags;
  for (const auto& [key, value] : machine.tags) tags.push_back({str(key), str(value)});
  out.tags = tags.data();
  out.n_tags = tags.size();
  out.state = HOSTLER_STATE_PENDING;  // with HOSTLER_STATE_RUNNING it has `addresses`
  driver::emit(op, out);
}

class Shelf {
 public:
  static driver::About about() {
    return {"shelf", "0.1", "example", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 16};
  }

  // Opens a set: reads its config, logs in. What is wrong is thrown, with what to do about it.
  Shelf(const hostler_host& host, const hostler_set_config&, hostler_op* op) {
    driver::log(host, HOSTLER_LOG_INFO, "the shelf is open", op);
  }

  // What this account can do. One record.
  void info(const hostler_set_info_req&, hostler_op* op) {
    auto out = driver::set_info_record();
    out.account_id = str("shelf");
    out.capabilities =
        HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_TAGS_AT_CREATE | HOSTLER_CAP_USER_DATA;
    out.list_consistency_ms = 1;  // at once; 0 would mean that nobody knows
    out.tags_max = 20;
    out.tag_key_max = out.tag_value_max = out.name_max = 128;
    driver::emit(op, out);
  }

  // The same key is the same machine. One record, as soon as the id is known.
  void create(const hostler_create_req& request, hostler_op* op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string key(view(request.idempotency_key));
    if (machines_.count(key) == 0) {
      if (machines_.size() == 10) {
        throw Error(HOSTLER_E_QUOTA, "10 machines are on the shelf; destroy some").quota(10, 10);
      }
      Machine made;
      made.id = "shelf-" + std::to_string(++last_);
      made.key = key;
      made.type = view(request.type->provider_type);
      made.tags = tags_of(request.tags, request.n_tags);
      made.market = request.market;
      machines_[key] = made;
    }
    emit(machines_[key], op);
  }

  // All that there is, whoever made it; or some, by id or by tags.
  void list(const hostler_list_req& request, hostler_op* op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Tags wanted = tags_of(request.tag_filter, request.n_tag_filter);
    for (const auto& [key, machine] : machines_) {
      bool fits = request.n_ids == 0;
      for (size_t i = 0; i < request.n_ids; ++i) fits |= view(request.ids[i]) == machine.id;
      for (const auto& [name, value] : wanted) {
        const auto found = machine.tags.find(name);
        fits &= found != machine.tags.end() && found->second == value;
      }
      if (fits) emit(machine, op);
    }
  }

  // By id, or by key where the id was never seen. What is not there is destroyed already: OK.
  void destroy(const hostler_destroy_req& request, hostler_op*) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto at = machines_.begin(); at != machines_.end(); ++at) {
      const bool by_id = !view(request.id).empty() && at->second.id == view(request.id);
      if (!by_id && at->first != view(request.idempotency_key)) continue;
      const auto set = view(request.expected_set_id);
      if (!set.empty() && at->second.tags["hostler-set"] != set) {
        throw Error(HOSTLER_E_CONFLICT, at->second.id + " is another set's");
      }
      machines_.erase(at);
      return;
    }
  }

  void set_tags(const hostler_set_tags_req& request, hostler_op*) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [key, machine] : machines_) {
      if (machine.id != view(request.id)) continue;
      for (size_t i = 0; i < request.n_remove; ++i) {
        machine.tags.erase(std::string(view(request.remove[i])));
      }
      for (const auto& [name, value] : tags_of(request.set, request.n_set)) {
        machine.tags[name] = value;
      }
      return;
    }
    throw Error(HOSTLER_E_NOT_FOUND, "no machine " + std::string(view(request.id)));
  }

 private:
  std::mutex mutex_;  // HOSTLER_THREAD_CONCURRENT: calls come from several threads
  std::map<std::string, Machine> machines_;  // by key
  int last_ = 0;
};

}  // namespace

HOSTLER_REGISTER(Shelf)
