// shelf - a whole driver, for reading and for starting one's own: a cloud whose machines are lines
// in this process's memory. They never boot, and are forgotten with the process.
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
  std::string id, key;
  Tags tags;
  uint32_t state = HOSTLER_STATE_PENDING;  // with HOSTLER_STATE_RUNNING it has `addresses`
};

void emit(const Machine& machine, hostler_op* op) {
  auto out = driver::instance_record();
  out.id = str(machine.id);
  out.idempotency_key = str(machine.key);
  out.market = HOSTLER_MARKET_ON_DEMAND;
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
  out.state = machine.state;
  driver::emit(op, out);
}

// Law 6: what is asked for and cannot be done is refused, never left out.
void refuse_what_a_shelf_lacks(const hostler_create_req& request) {
  const char* const wish = request.market == HOSTLER_MARKET_SPOT         ? "spot market"
                           : request.tenancy != HOSTLER_TENANCY_DEFAULT  ? "tenancy"
                           : request.public_ip == HOSTLER_PUBLIC_IP_YES  ? "public address"
                           : request.n_disks != 0                        ? "disks"
                           : !view(request.zone).empty()                 ? "zone"
                           : !view(request.region).empty()               ? "region"
                           : !view(request.subnet).empty()               ? "subnet"
                           : !view(request.image_id).empty()             ? "image"
                           : request.n_security_groups != 0              ? "security groups"
                           : request.n_profiles != 0                     ? "profiles"
                           : !view(request.placement_group).empty()      ? "placement group"
                           : !view(request.capacity_reservation).empty() ? "capacity reservation"
                           : !view(request.identity_profile).empty()     ? "identity profile"
                           : !view(request.remote_user).empty()          ? "login users"
                                                                         : nullptr;
  if (wish != nullptr) throw Error(HOSTLER_E_UNSUPPORTED, std::string("a shelf has no ") + wish);
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
    out.capabilities = HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_USER_DATA;
    out.list_consistency_ms = 1;  // at once; 0 would mean that nobody knows
    out.tags_max = 20;
    out.tag_key_max = out.tag_value_max = out.name_max = 128;
    driver::emit(op, out);
  }

  // The same key is the same machine, also when that is gone. One record, as soon as the id is
  // known.
  void create(const hostler_create_req& request, hostler_op* op) {
    refuse_what_a_shelf_lacks(request);
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string key(view(request.idempotency_key));
    if (machines_.count(key) == 0) {
      if (on_the_shelf_ == 10) {
        throw Error(HOSTLER_E_QUOTA, "10 machines are on the shelf; destroy some").quota(10, 10);
      }
      Machine made;
      made.id = "shelf-" + std::to_string(++last_);
      made.key = key;
      made.tags = tags_of(request.tags, request.n_tags);
      machines_[key] = made;
      ++on_the_shelf_;
    }
    emit(machines_[key], op);
  }

  // All that there is, whoever made it; or some, by id or by tags.
  void list(const hostler_list_req& request, hostler_op* op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Tags wanted = tags_of(request.tag_filter, request.n_tag_filter);
    for (const auto& [key, machine] : machines_) {
      if (machine.state == HOSTLER_STATE_GONE) continue;
      bool fits = request.n_ids == 0;
      for (size_t i = 0; i < request.n_ids; ++i) fits |= view(request.ids[i]) == machine.id;
      for (const auto& [name, value] : wanted) {
        const auto found = machine.tags.find(name);
        fits &= found != machine.tags.end() && found->second == value;
      }
      if (fits) emit(machine, op);
    }
  }

  // What is not there is destroyed already: OK.
  void destroy(const hostler_destroy_req& request, hostler_op*) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [key, machine] : machines_) {
      if (machine.id != view(request.id)) continue;
      if (machine.state == HOSTLER_STATE_GONE) return;
      const auto set = view(request.expected_set_id);
      if (!set.empty() && machine.tags["hostler-set"] != set) {
        throw Error(HOSTLER_E_CONFLICT, machine.id + " is another set's");
      }
      machine.state = HOSTLER_STATE_GONE;
      --on_the_shelf_;
      return;
    }
  }

  void set_tags(const hostler_set_tags_req& request, hostler_op*) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [key, machine] : machines_) {
      if (machine.id != view(request.id) || machine.state == HOSTLER_STATE_GONE) continue;
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
  int last_ = 0, on_the_shelf_ = 0;
};

}  // namespace

HOSTLER_REGISTER(Shelf)
