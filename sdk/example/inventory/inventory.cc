// inventory - a driver for machines that nobody rents: a fixed list of them, which take 20 minutes
// to deploy; some are broken, some are lent to others. README.md says how each of this is told.
#include <chrono>
#include <hostler/driver.hpp>
#include <iterator>
#include <string>
#include <vector>

#include "machines.h"
#include "state_file.h"

namespace inventory {
namespace {

namespace driver = hostler::driver;
using driver::Error;
using driver::str;
using driver::view;

// The keys of lendings that are over are remembered for 30 days.
constexpr std::int64_t kRememberedNs = std::int64_t{30} * 24 * 3600 * 1'000'000'000;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string base64(const uint8_t* bytes, size_t n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < n; i += 3) {
    uint32_t group = 0;
    for (size_t j = i; j < i + 3; ++j) group = group << 8U | (j < n ? bytes[j] : 0U);
    for (unsigned j = 0; j < 4; ++j) out += i + j <= n ? digits[group >> (18 - 6 * j) & 63U] : '=';
  }
  return out;
}

// Law 6: what is asked for and cannot be done is refused, never left out.
void refuse_what_machines_lack(const hostler_create_req& r, const std::string& remote_user) {
  const auto refuse = [](bool is_asked_for, const char* what) {
    if (is_asked_for) throw Error(HOSTLER_E_UNSUPPORTED, std::string("machines have no ") + what);
  };
  refuse(r.market == HOSTLER_MARKET_SPOT, "spot market");
  refuse(r.tenancy != HOSTLER_TENANCY_DEFAULT, "tenancy");
  refuse(r.public_ip == HOSTLER_PUBLIC_IP_YES, "public address");
  refuse(r.type->gpus != 0, "GPUs");
  refuse(r.n_disks != 0, "disks");
  refuse(r.n_security_groups != 0, "security groups");
  refuse(r.n_profiles != 0, "profiles");
  refuse(r.remote_user.len != 0 && view(r.remote_user) != remote_user, "login for this user");
  for (const hostler_str* place : {&r.zone, &r.region, &r.subnet, &r.image_id, &r.placement_group,
                                   &r.capacity_reservation, &r.identity_profile})
    refuse(place->len != 0, ("'" + std::string(view(*place)) + "'").c_str());
}

std::string tag(const Lending& lending, const char* name) {
  const auto found = lending.tags.find(name);
  return found == lending.tags.end() ? std::string() : found->second;
}

void add_tags(const hostler_kv* tags, size_t n, Lending& out) {
  for (size_t i = 0; i < n; ++i) out.tags[std::string(view(tags[i].key))] = view(tags[i].value);
}

// The free machine with the least room that is enough; null: none is.
const Machine* choose(const Machines& machines, const State& state, const hostler_create_req& r) {
  const Machine* best = nullptr;
  for (const auto& [name, one] : machines) {
    bool taken = one.condition != Condition::free;
    for (const auto& [key, lending] : state.lendings)
      taken |= !lending.over && lending.machine == name;
    if (taken || one.vcpus < r.type->vcpus || one.ram < static_cast<int64_t>(r.type->ram_bytes))
      continue;
    if (best == nullptr || one.vcpus < best->vcpus) best = &one;
  }
  return best;
}

[[noreturn]] void refuse_for_want(const Machines& machines) {
  int broken = 0, lent = 0;
  for (const auto& [name, one] : machines) {
    broken += one.condition == Condition::broken ? 1 : 0;
    lent += one.condition == Condition::lent ? 1 : 0;
  }
  // Other types may still fit: only this one is held back, and asked for again later.
  throw Error(HOSTLER_E_CAPACITY, "no machine of this size is free: of " +
                                      std::to_string(machines.size()) + ", " +
                                      std::to_string(broken) + " are broken, " +
                                      std::to_string(lent) + " lent to others")
      .about(HOSTLER_SCOPE_TYPE);
}

class Inventory {
 public:
  static driver::About about() {
    return {"inventory", "0.1", "example", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 4};
  }

  Inventory(const hostler_host&, const hostler_set_config& config, hostler_op*)
      : settings_(read_settings(std::string(view(config.config_json)))),
        state_(settings_.state_file) {
    (void)read_machines(settings_);
    state_.update([](State&) {});  // A folder that cannot be written to is found now.
  }

  void info(const hostler_set_info_req&, hostler_op* op) {
    auto out = driver::set_info_record();
    out.account_id = str(settings_.state_file);
    out.capabilities = HOSTLER_CAP_CREATE_TOKEN_NATIVE;
    out.list_consistency_ms = 1;  // at once
    out.tags_max = 40;
    out.tag_key_max = out.tag_value_max = out.name_max = 255;
    driver::emit(op, out);
  }

  void create(const hostler_create_req& r, hostler_op* op) {
    refuse_what_machines_lack(r, settings_.remote_user);
    const Machines machines = read_machines(settings_);
    const std::string key(view(r.idempotency_key));
    Lending lending;
    state_.update([&](State& state) {
      const auto before = state.lendings.find(key);
      if (before != state.lendings.end()) {
        lending = before->second;
        return;
      }
      const Machine* const machine = choose(machines, state, r);
      if (machine == nullptr) refuse_for_want(machines);
      lending.machine = machine->name;
      lending.id = machine->name + "." + std::to_string(++state.last);
      lending.since_ns = now_ns();
      add_tags(r.tags, r.n_tags, lending);
      state.lendings[key] = lending;
    });
    // A real one would tell its deployment system here, with the id: again at each retry.
    emit(key, lending, machines, op);
  }

  void list(const hostler_list_req& r, hostler_op* op) {
    const Machines machines = read_machines(settings_);
    for (const auto& [key, lending] : state_.read().lendings) {
      bool fits = !lending.over && r.n_ids == 0;
      for (size_t i = 0; i < r.n_ids; ++i) fits |= !lending.over && view(r.ids[i]) == lending.id;
      for (size_t i = 0; i < r.n_tag_filter; ++i)
        fits &= tag(lending, std::string(view(r.tag_filter[i].key)).c_str()) ==
                view(r.tag_filter[i].value);
      if (fits) emit(key, lending, machines, op);
    }
  }

  // Gives the machine back. What is not there is given back already.
  void destroy(const hostler_destroy_req& r, hostler_op*) {
    state_.update([&](State& state) {
      for (auto& [key, lending] : state.lendings) {
        if (lending.id != view(r.id) || lending.over) continue;
        const auto set = view(r.expected_set_id);
        if (!set.empty() && tag(lending, "hostler-set") != set)
          throw Error(HOSTLER_E_CONFLICT, lending.id + " is another set's");
        lending.over = true;
      }
      // A create that is so late is none of this hostler.
      for (auto it = state.lendings.begin(); it != state.lendings.end();)
        it = it->second.over && now_ns() - it->second.since_ns > kRememberedNs
                 ? state.lendings.erase(it)
                 : std::next(it);
    });
  }

  void set_tags(const hostler_set_tags_req& r, hostler_op*) {
    state_.update([&](State& state) {
      for (auto& [key, lending] : state.lendings)
        if (lending.id == view(r.id) && !lending.over) return add_tags(r.set, r.n_set, lending);
      throw Error(HOSTLER_E_NOT_FOUND, "no instance " + std::string(view(r.id)));
    });
  }

  // The inventory knows the keys of its machines: nobody can pose as one of them.
  void verify(const hostler_verify_req& r, hostler_op*) {
    const Machines machines = read_machines(settings_);
    for (const auto& [key, lending] : state_.read().lendings) {
      if (lending.id != view(r.id) || lending.over) continue;
      const auto found = machines.find(lending.machine);
      if (found == machines.end() || found->second.host_key.empty())
        throw Error(HOSTLER_E_UNSUPPORTED, "the inventory has no key of " + lending.machine);
      const auto shown = std::string(view(r.key_algo)) + " " + base64(r.key_blob, r.n_key_blob);
      if (found->second.host_key == shown) return;
      throw Error(HOSTLER_E_KEY_MISMATCH, "the inventory has another key of " + lending.machine);
    }
    throw Error(HOSTLER_E_NOT_FOUND, "no instance " + std::string(view(r.id)));
  }

 private:
  void emit(const std::string& key, const Lending& lending, const Machines& machines,
            hostler_op* op) const {
    const auto found = machines.find(lending.machine);
    const Machine machine = found == machines.end() ? Machine() : found->second;
    auto out = driver::instance_record();
    std::string error;
    if (found == machines.end()) error = "the machine is no longer in the inventory";
    if (machine.condition == Condition::broken) error = "broken: " + machine.text;
    if (machine.condition == Condition::lent) error = "taken away for " + machine.text;
    const bool deployed = now_ns() - lending.since_ns >= settings_.deploy_ms * 1'000'000;
    out.state = lending.over     ? HOSTLER_STATE_GONE
                : !error.empty() ? HOSTLER_STATE_FAILED
                : deployed       ? HOSTLER_STATE_RUNNING
                                 : HOSTLER_STATE_PENDING;
    const hostler_address address{HOSTLER_ADDRESS_PRIVATE, 0, str(machine.address)};
    if (out.state == HOSTLER_STATE_RUNNING) out.addresses = &address, out.n_addresses = 1;
    std::vector<hostler_kv> tags;
    for (const auto& [name, value] : lending.tags) tags.push_back({str(name), str(value)});
    const std::string set = tag(lending, "hostler-set"), owner = tag(lending, "hostler-owner");
    out.id = str(lending.id);
    out.idempotency_key = str(key);
    out.set_id = str(set);
    out.owner = str(owner);
    out.remote_user = str(settings_.remote_user);
    out.state_error = str(error);
    out.tags = tags.data();
    out.n_tags = tags.size();
    out.created_unix_ns = lending.since_ns;
    out.market = HOSTLER_MARKET_ON_DEMAND;
    out.ssh_port = static_cast<uint32_t>(machine.port);
    driver::emit(op, out);
  }

  const Settings settings_;
  const StateFile state_;
};

}  // namespace
}  // namespace inventory

HOSTLER_REGISTER(inventory::Inventory)
