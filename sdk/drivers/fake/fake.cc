// fake - a cloud in memory with a dial for each thing that clouds do to their users. See README.md.
#include <algorithm>
#include <chrono>
#include <hostler/driver.hpp>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cloud.h"

namespace hostler::fake {
namespace {

using driver::Error;
using driver::str;
using driver::view;

constexpr std::int64_t kPricesMax = 1000;  ///< Of one type, zone and market.

std::string text(const hostler_str& from) { return std::string(view(from)); }

Tags tags_of(const hostler_kv* tags, std::size_t n) {
  Tags out;
  for (std::size_t i = 0; i < n; ++i) out[text(tags[i].key)] = view(tags[i].value);
  return out;
}

/// Law 6: what is asked for and cannot be done is refused, never left out.
void refuse_what_is_not_faked(const hostler_create_req& request, const std::string& region) {
  const auto given = [](const hostler_str& wish) { return !view(wish).empty(); };
  if (given(request.region) && view(request.region) != region)
    throw Error(HOSTLER_E_INVALID, "the region is " + region + ": see `region` in the config");
  const char* const wish = request.tenancy != HOSTLER_TENANCY_DEFAULT   ? "tenancy"
                           : request.public_ip == HOSTLER_PUBLIC_IP_YES ? "public address"
                           : request.n_disks != 0                       ? "disks"
                           : given(request.subnet)                      ? "subnet"
                           : request.n_security_groups != 0             ? "security groups"
                           : request.n_profiles != 0                    ? "profiles"
                           : given(request.placement_group)             ? "placement group"
                           : given(request.capacity_reservation)        ? "capacity reservation"
                           : given(request.identity_profile)            ? "identity profile"
                                                                        : nullptr;
  if (wish != nullptr) throw Error(HOSTLER_E_UNSUPPORTED, std::string("a fake has no ") + wish);
}

bool fits(const Machine& machine, const hostler_list_req& request) {
  for (std::size_t i = 0; i < request.n_tag_filter; ++i) {
    const auto tag = machine.tags.find(text(request.tag_filter[i].key));
    if (tag == machine.tags.end() || tag->second != view(request.tag_filter[i].value)) return false;
  }
  return request.n_ids == 0 ||
         std::any_of(request.ids, request.ids + request.n_ids,
                     [&](const hostler_str& id) { return view(id) == machine.id; });
}

}  // namespace

class Fake {
 public:
  static driver::About about() {
    return {"fake", "1.0", "hostler", "Apache-2.0", kSchema, HOSTLER_THREAD_CONCURRENT, 64};
  }

  Fake(const hostler_host&, const hostler_set_config& config, hostler_op* op)
      : cloud_(Cloud::of(read_settings(text(config.config_json)))) {
    begin(op, "open", "");
  }

  void info(const hostler_set_info_req&, hostler_op* op) {
    const std::string account = settings().cloud.empty() ? "fake" : settings().cloud;
    auto out = driver::set_info_record();
    out.account_id = str(account);
    out.region = str(settings().region);
    out.currency = str(settings().currency);
    out.capabilities = HOSTLER_CAP_CREATE_TOKEN_NATIVE | HOSTLER_CAP_USER_DATA |
                       HOSTLER_CAP_HOST_KEY_INJECT | HOSTLER_CAP_SPOT;
    out.list_consistency_ms =
        static_cast<std::uint64_t>(std::max<std::int64_t>(settings().consistency_ms, 1));
    driver::emit(op, out);
  }

  void create(const hostler_create_req& request, hostler_op* op) {
    refuse_what_is_not_faked(request, settings().region);
    const Order order{text(request.idempotency_key),
                      text(request.type->provider_type),
                      text(request.zone),
                      request.market == HOSTLER_MARKET_SPOT,
                      request.price_cap_micros_per_hour,
                      text(request.remote_user),
                      tags_of(request.tags, request.n_tags)};
    change(op, "create", order.key, [&](std::int64_t now) {
      const Machine made = cloud_->create(order, now);
      const auto state = made.exists(now) ? made.state(now) : HOSTLER_STATE_GONE;
      return [this, made, state, now, op] { emit(made, state, now, op); };
    });
  }

  void list(const hostler_list_req& request, hostler_op* op) {
    const std::int64_t now = begin(op, "list", "");
    for (const Machine& machine : cloud_->list(now))
      if (fits(machine, request)) emit(machine, machine.state(now), now, op);
  }

  void destroy(const hostler_destroy_req& request, hostler_op* op) {
    const auto id = view(request.id), key = view(request.idempotency_key);
    change(op, "destroy", std::string(id.empty() ? key : id), [&](std::int64_t now) {
      cloud_->destroy(id, key, view(request.expected_set_id), now);
      return [] {};
    });
  }

  void set_tags(const hostler_set_tags_req& request, hostler_op* op) {
    change(op, "set_tags", text(request.id), [&](std::int64_t now) {
      cloud_->change_tags(view(request.id), now, [&](Tags& tags) {
        for (const auto& [key, value] : tags_of(request.set, request.n_set)) tags[key] = value;
      });
      return [] {};
    });
  }

  void quota_group(const hostler_quota_group_req& request, hostler_op* op) {
    const auto type = settings().types.find(text(request.type->provider_type));
    if (type == settings().types.end() || type->second.group.empty()) return;
    auto out = driver::quota_group_record();
    out.name = str(type->second.group);
    driver::emit(op, out);
  }

  void offerings(const hostler_offerings_req& request, hostler_op* op) {
    const std::int64_t now = begin(op, "offerings", "");
    const auto* const wanted_end = request.provider_types + request.n_provider_types;
    for (const auto& [name, type] : settings().types) {
      const bool wanted =
          request.n_provider_types == 0 ||
          std::any_of(request.provider_types, wanted_end,
                      [&name = name](const hostler_str& one) { return view(one) == name; });
      if (!wanted) continue;
      for (const std::string& zone : settings().zones)
        for (const auto market : {HOSTLER_MARKET_ON_DEMAND, HOSTLER_MARKET_SPOT})
          if (request.market == HOSTLER_MARKET_ANY || request.market == market)
            emit_offering(name, type, zone, market, now, op);
    }
  }

  /// Each watch has a thread until it is cancelled: the host ends all operations before the set.
  hostler_status watch(const hostler_interruption_req&, hostler_op* op) {
    begin(op, "watch", "");
    const std::lock_guard<std::mutex> lock(watches_mutex_);
    watches_.emplace_back([this, op] { driver::finish(op, [&] { tell_reclaims(op); }); });
    return HOSTLER_PENDING;
  }
  ~Fake() {
    for (std::thread& one : watches_) one.join();
  }

  void price_history(const hostler_price_req& request, hostler_op* op) {
    const std::int64_t now = begin(op, "history", "");
    const std::string type = text(request.type->provider_type);
    for (const std::string& zone : settings().zones) {
      if (request.market != HOSTLER_MARKET_SPOT) emit_price(type, zone, false, 0, op);
      if (request.market == HOSTLER_MARKET_ON_DEMAND) continue;
      for (std::int64_t at : changes(request.since_unix_ns, now))
        emit_price(type, zone, true, at, op);
    }
  }

 private:
  [[nodiscard]] const Settings& settings() const { return cloud_->settings(); }

  /// What each call goes through before the cloud does anything. Its time.
  std::int64_t begin(hostler_op* op, const std::string& call, const std::string& name) {
    const std::string of = call + " " + name;
    const std::uint64_t number = cloud_->count_call(of);
    const auto& chance = cloud_->chance();
    cloud_->limit_rate(cloud_->clock().begin_call());
    cloud_->clock().pass(op, chance.between(settings().latency_ms, settings().latency_spread_ms,
                                            "latency", of, number));
    if (chance.happens(settings().errors, "error", of, number))
      throw Error(HOSTLER_E_TRANSIENT, "the cloud has an error").provider("Unavailable");
    return cloud_->clock().now();
  }

  /// A call that changes the cloud: `act` does, and returns the reply. Request or reply may be
  /// lost.
  template <class Act>
  void change(hostler_op* op, const std::string& call, const std::string& name, const Act& act) {
    const std::string of = call + " " + name;
    const std::int64_t now = begin(op, call, name);
    const std::uint64_t number = cloud_->count_call("change " + of);
    if (cloud_->chance().happens(settings().lost_requests, "lost request", of, number))
      throw Error(HOSTLER_E_TRANSIENT, "no reply came (the request was lost)").outcome_unknown();
    const auto reply = act(now);
    if (cloud_->chance().happens(settings().lost_replies, "lost reply", of, number))
      throw Error(HOSTLER_E_TRANSIENT, "no reply came (the reply was lost)").outcome_unknown();
    reply();
  }

  void emit(const Machine& machine, std::uint32_t state, std::int64_t now, hostler_op* op) {
    auto out = driver::instance_record();
    const auto tag = [&](const char* name) {
      const auto found = machine.tags.find(name);
      return found == machine.tags.end() ? hostler_str{} : str(found->second);
    };
    std::vector<hostler_kv> tags;
    for (const auto& [key, value] : machine.tags) tags.push_back({str(key), str(value)});
    const hostler_address address{HOSTLER_ADDRESS_PRIVATE, 0, str(settings().address)};
    out.id = str(machine.id);
    out.idempotency_key = str(machine.key);
    out.set_id = tag("hostler-set");
    out.owner = tag("hostler-owner");
    out.zone = str(machine.zone);
    out.remote_user = str(machine.remote_user);
    out.tags = tags.data();
    out.n_tags = tags.size();
    out.market = machine.spot ? HOSTLER_MARKET_SPOT : HOSTLER_MARKET_ON_DEMAND;
    out.created_unix_ns = cloud_->clock().unix_ns(machine.created);
    out.price_micros_per_hour =
        cloud_->market().price(machine.type, machine.zone, machine.spot, now);
    out.ssh_port = static_cast<std::uint32_t>(settings().ssh_port);
    if (machine.reclaimed != Machine::kNever &&
        now >= machine.reclaimed - settings().reclaim_notice_ms)
      out.interruption_unix_ns = cloud_->clock().unix_ns(machine.reclaimed);
    out.state = state;
    if (state == HOSTLER_STATE_RUNNING) out.addresses = &address, out.n_addresses = 1;
    const std::string error =
        machine.lacks_stock ? "Fake.NoStock: no stock of " + machine.type + " in " + machine.zone
                            : "Fake.NoBoot: it does not boot";
    if (state == HOSTLER_STATE_FAILED) {
      out.state_error = str(error);
      if (machine.lacks_stock) out.state_error_status = HOSTLER_E_CAPACITY;
    }
    driver::emit(op, out);
  }

  void emit_offering(const std::string& name, const TypeSettings& type, const std::string& zone,
                     std::uint32_t market, std::int64_t now, hostler_op* op) {
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
    auto out = driver::offering_record();
    out.provider_type = str(name);
    out.region = str(settings().region);
    out.zone = str(zone);
    out.architecture = str(type.architecture);
    out.vcpus = static_cast<std::uint32_t>(type.vcpus);
    out.gpus = static_cast<std::uint32_t>(type.gpus);
    const hostler_gpu_group group{
        str(type.gpu_kind), static_cast<std::uint64_t>(type.gpu_memory_gib) * kGiB, out.gpus, 0};
    if (!type.gpu_kind.empty() && out.gpus > 0) out.gpu_groups = &group, out.n_gpu_groups = 1;
    out.ram_bytes = static_cast<std::uint64_t>(type.ram_gib) * kGiB;
    out.scratch_bytes = static_cast<std::uint64_t>(type.scratch_gib) * kGiB;
    out.market = market;
    out.price_micros_per_hour =
        cloud_->market().price(name, zone, market == HOSTLER_MARKET_SPOT, now);
    out.available =
        cloud_->is_available(name, zone, now) ? HOSTLER_AVAILABLE_YES : HOSTLER_AVAILABLE_NO;
    driver::emit(op, out);
  }

  void tell_reclaims(hostler_op* op) {
    std::set<std::string> told;
    for (;;) {
      const std::int64_t now = cloud_->clock().now();
      for (const Machine& machine : cloud_->list(now)) {
        if (machine.reclaimed == Machine::kNever || !machine.exists(now) ||
            now < machine.reclaimed - settings().reclaim_notice_ms)
          continue;
        if (!told.insert(machine.id).second) continue;
        auto out = driver::interruption_record();
        out.instance_id = str(machine.id);
        out.text = str("the fake cloud takes it back");
        out.interruption_unix_ns = cloud_->clock().unix_ns(machine.reclaimed);
        out.action = HOSTLER_INTERRUPTION_TERMINATE;
        driver::emit(op, out);
      }
      try {
        driver::pause(op, std::chrono::milliseconds(20));
      } catch (const Error&) {
        return;  // The end of a watch.
      }
    }
  }

  /// When prices change: the times since then at which an interval begins, with the one before.
  [[nodiscard]] std::vector<std::int64_t> changes(std::int64_t since_unix_ns,
                                                  std::int64_t now) const {
    std::vector<std::int64_t> out;
    const auto& market = cloud_->market();
    for (std::int64_t at = market.begin_of_interval(now);; at = market.begin_of_interval(at - 1)) {
      out.push_back(at);
      const bool enough = out.size() == kPricesMax || cloud_->clock().unix_ns(at) <= since_unix_ns;
      if (at == 0 || settings().price_interval_ms == 0 || enough) return out;
    }
  }

  void emit_price(const std::string& type, const std::string& zone, bool spot, std::int64_t at,
                  hostler_op* op) {
    auto out = driver::price_record();
    out.zone = str(zone);
    out.market = spot ? HOSTLER_MARKET_SPOT : HOSTLER_MARKET_ON_DEMAND;
    out.start_unix_ns = cloud_->clock().unix_ns(at);
    out.price_micros_per_hour = cloud_->market().price(type, zone, spot, at);
    driver::emit(op, out);
  }

  const std::shared_ptr<Cloud> cloud_;
  std::mutex watches_mutex_;
  std::vector<std::thread> watches_;
};

}  // namespace hostler::fake

HOSTLER_REGISTER(hostler::fake::Fake)
