#include "core/scheduler/gates.h"

#include <algorithm>
#include <chrono>

#include "core/base/text.h"

namespace hostler::scheduler {
namespace {

using namespace std::chrono_literals;
using model::CloudErrorClass;
using model::CloudOp;
using model::GateRecord;

constexpr Duration kRetryMax = 24h;
constexpr Duration kProbePause = 5s;
constexpr std::uint32_t kInternalErrorsMax = 5;

struct BackOff {
  Duration first, most;
};

/// The create itself is wrong: all such creates are refused until the settings are corrected.
bool is_for_good(CloudErrorClass cls, CloudOp op) {
  return op == CloudOp::kCreate &&
         (cls == CloudErrorClass::kInvalid || cls == CloudErrorClass::kUnsupported ||
          cls == CloudErrorClass::kConflict || cls == CloudErrorClass::kNotFound);
}

std::optional<BackOff> back_off(CloudErrorClass cls, CloudOp op) {
  if (is_for_good(cls, op)) return BackOff{1min, 30min};
  switch (cls) {
    case CloudErrorClass::kRateLimit:
      return BackOff{1s, 5min};
    case CloudErrorClass::kQuota:
      return BackOff{1min, 30min};
    case CloudErrorClass::kCapacity:
      return BackOff{1min, 15min};
    case CloudErrorClass::kAuth:
    case CloudErrorClass::kInternal:
    case CloudErrorClass::kKeyMismatch:
      return BackOff{30s, 10min};
    case CloudErrorClass::kBoot:
      return BackOff{30s, 30min};
    case CloudErrorClass::kDriverCrashes:
      return BackOff{1h, 24h};  // As crash_gates.cc shuts them.
    case CloudErrorClass::kInvalid:
    case CloudErrorClass::kUnsupported:
    case CloudErrorClass::kNotFound:
    case CloudErrorClass::kConflict:
    case CloudErrorClass::kTransient:
    case CloudErrorClass::kTimeout:
    case CloudErrorClass::kCancelled:
    case CloudErrorClass::kMisbehaving:
      break;
  }
  return std::nullopt;
}

bool is_of_boots(const GateRecord& r) { return r.cls == CloudErrorClass::kBoot; }

/// Answers of the cloud shut and open these, and no others.
bool is_of_answers(const GateRecord& r) { return !is_of_boots(r) && !is_of_crashes(r); }

/// A start needs stock and quota as a create does, so the gates of creates hold for it.
CloudOp gated(CloudOp op) { return op == CloudOp::kStart ? CloudOp::kCreate : op; }

/// One dimension of scopes that has a value: in the call, the error and the gate.
struct Dimension {
  std::uint32_t bit;
  const char* name;
  std::string GateQuery::*of_call;
  std::string model::CloudError::*of_error;
  std::string GateRecord::*of_gate;
};
constexpr Dimension kDimensions[] = {
    {model::scope::kType, "type", &GateQuery::type, &model::CloudError::type, &GateRecord::type},
    {model::scope::kGroup, "group", &GateQuery::group, &model::CloudError::group,
     &GateRecord::group},
    {model::scope::kZone, "zone", &GateQuery::zone, &model::CloudError::zone, &GateRecord::zone},
    {model::scope::kSubnet, "subnet", &GateQuery::subnet, &model::CloudError::subnet,
     &GateRecord::subnet},
    {model::scope::kRegion, "region", &GateQuery::region, &model::CloudError::region,
     &GateRecord::region},
};

/// Scope texts are a driver's: cut at this length.
constexpr std::size_t kScopeTextMax = 128;

/// Set in GateRecord::scope beside the bit of a dimension: the refused call left this dimension to
/// the driver. Drivers cannot set it: the plugin host keeps the eight bits of the ABI only.
constexpr std::uint32_t left_to_driver(std::uint32_t bit) { return bit << 8; }

/// The bits of the driver, or the default of the error's class.
std::uint32_t basic_scope(const model::CloudError& error) {
  using namespace model::scope;
  std::uint32_t bits = error.scope;
  switch (error.cls) {
    case CloudErrorClass::kInvalid:
    case CloudErrorClass::kUnsupported:
    case CloudErrorClass::kConflict:
    case CloudErrorClass::kNotFound:
    case CloudErrorClass::kCapacity:
      if ((bits & ~(kMarket | kOperation)) == 0) bits |= kType | kZone;
      bits |= kMarket | kOperation;
      break;
    case CloudErrorClass::kQuota:
      if ((bits & ~(kMarket | kOperation)) == 0) bits |= kGroup;
      bits |= kOperation;
      break;
    case CloudErrorClass::kInternal:
      bits |= kOperation;
      break;
    default:
      break;
  }
  return bits;
}

/// The rule of scopes. Each bit of the scope limits the gate in one dimension.
///
/// - The refused call names a value there: the gate is for that value. A text of the driver that
///   contradicts it is ignored, because the refused call must always be within its gate; otherwise
///   it would be made and refused again at once.
/// - The call names none, because hostler leaves the choice to the driver (always the subnet, often
///   the zone and the group): nobody knows what the driver chooses next. The gate is for the
///   driver's text, and for calls that leave the choice to the driver as well. So that these are
///   not all calls of the set, it is limited to what was refused: the same type, zone and market.
///   (For a quota group: the same type.)
/// - The region narrows nothing within a set, which has one region.
///
/// The key is made of the call's values only. So a driver that names another subnet each time makes
/// no new gate each time, and the back-off goes on.
void limit(GateRecord& r, const GateQuery& call, const model::CloudError& error) {
  using namespace model::scope;
  r.scope = basic_scope(error);
  for (const Dimension& d : kDimensions) {
    // A call without a type is not about instances: it leaves no type to the driver.
    const bool is_left = (error.scope & d.bit) != 0 && (call.*d.of_call).empty() && d.bit != kType;
    if (!is_left) continue;
    r.*d.of_gate = printable(error.*d.of_error, kScopeTextMax);
    if (!(r.*d.of_gate).empty()) r.scope |= left_to_driver(d.bit);
    if (d.bit == kZone || d.bit == kSubnet) r.scope |= kType | kZone | kMarket;
  }
  // Types without a group have no quota in common.
  if ((r.scope & kGroup) != 0 && call.group.empty()) {
    r.scope |= kType;
    if (r.group.empty()) r.scope &= ~kGroup;
  }
  for (const Dimension& d : kDimensions)
    if ((r.scope & d.bit) != 0 && !(call.*d.of_call).empty()) r.*d.of_gate = call.*d.of_call;
  if ((r.scope & kMarket) != 0) r.market = call.market;
}

GateRecord record_of(const GateQuery& call, const model::CloudError& error) {
  using namespace model::scope;
  GateRecord r;
  r.set = call.set;
  r.op = gated(call.op);
  r.cls = error.cls;
  r.message = error.message;
  limit(r, call, error);
  r.key = r.set + " " + to_string(r.cls);
  const auto narrow = [&r](const char* name, const std::string& value) {
    r.key += std::string(" ") + name + "=" + value;
  };
  if ((r.scope & kOperation) != 0) narrow("op", to_string(r.op));
  for (const Dimension& d : kDimensions)
    if ((r.scope & d.bit) != 0) narrow(d.name, call.*d.of_call);
  if (r.market) narrow("market", to_string(*r.market));
  return r;
}

/// The record only counts internal errors so far: the gate is not shut.
bool only_counts(const GateRecord& r) {
  return r.cls == CloudErrorClass::kInternal && r.failures < kInternalErrorsMax;
}

Duration time_shut(const GateRecord& r, const BackOff& steps, std::optional<Duration> asked,
                   Random& random) {
  if (asked && *asked > Duration::zero()) return std::min(*asked, kRetryMax);
  std::uint32_t doublings = r.failures - 1;
  if (r.cls == CloudErrorClass::kInternal) doublings = r.failures - kInternalErrorsMax;
  Duration d = steps.first;
  for (; doublings > 0 && d < steps.most; --doublings) d *= 2;
  d = std::min(d, steps.most);
  return d - d / 4 +
         Duration(static_cast<Duration::rep>(static_cast<double>(d.count()) * random.unit() / 2));
}

}  // namespace

std::vector<CloudErrorClass> gated_classes() {
  std::vector<CloudErrorClass> out;
  for (int i = 0; i < model::kCloudErrorClasses; ++i)
    if (const auto cls = static_cast<CloudErrorClass>(i); back_off(cls, CloudOp::kCreate))
      out.push_back(cls);
  return out;
}

bool holds(const GateRecord& r, const GateQuery& call) {
  using namespace model::scope;
  const auto is_within = [&](const Dimension& d) {
    const std::string& named = call.*d.of_call;
    const std::string& gated = r.*d.of_gate;
    if ((r.scope & d.bit) == 0 || named == gated) return true;
    if (d.bit == kRegion) return named.empty() || gated.empty();
    return named.empty() && (r.scope & left_to_driver(d.bit)) != 0;
  };
  // A create that is wrong, by its image for example, says nothing about a start. Nor do new hosts
  // and crashes.
  const bool is_exact = is_for_good(r.cls, r.op) || !is_of_answers(r);
  const CloudOp op = is_exact ? call.op : gated(call.op);
  if (!r.pool.empty() && r.pool != call.pool) return false;
  if (!r.image.empty() && r.image != call.image) return false;
  if (r.instance.value != 0 && r.instance != call.instance) return false;
  return r.set == call.set && ((r.scope & kOperation) == 0 || r.op == op) &&
         std::ranges::all_of(kDimensions, is_within) &&
         ((r.scope & kMarket) == 0 || r.market == call.market);
}

std::optional<GateRecord> Gates::refuse(const GateQuery& call, const model::CloudError& error,
                                        Now now, Random& random) {
  // The probe is over. Gates that it did not open wait a little before the next one.
  for (auto& [key, gate] : gates_) {
    if (!gate.probing || !is_of_answers(gate.record) || !holds(gate.record, call)) continue;
    gate.probing = false;
    gate.until = now.mono + kProbePause;
    if (gate.record.cls == error.cls) gate.until = now.mono;
  }
  const auto steps = back_off(error.cls, call.op);
  if (!steps) return std::nullopt;

  GateRecord record = record_of(call, error);
  const auto [found, fresh] = gates_.try_emplace(record.key);
  Gate& gate = found->second;
  if (!fresh && !only_counts(gate.record) && gate.until > now.mono) return std::nullopt;
  record.failures = fresh ? 1 : gate.record.failures + (gate.record.failures < 1000 ? 1 : 0);
  gate = {.record = std::move(record), .until = now.mono, .probing = false};
  if (only_counts(gate.record)) return std::nullopt;
  const Duration shut_for = time_shut(gate.record, *steps, error.retry_after, random);
  gate.until = now.mono + shut_for;
  gate.record.until = now.wall + shut_for;
  return gate.record;
}

const Gate* Gates::shut(const GateQuery& call, Mono now) const {
  const Gate* longest = nullptr;
  const auto probes = [&](const Gate& gate) {
    return call.instance.value != 0 && gate.prober == call.instance && gate.until <= now;
  };
  for (const auto& [key, gate] : gates_)
    if (gate.is_shut(now) && holds(gate.record, call) && !probes(gate) &&
        (longest == nullptr || gate.until > longest->until))
      longest = &gate;
  return longest;
}

void Gates::passing(const GateQuery& call, Mono now) {
  for (auto& [key, gate] : gates_)
    if (gate.until <= now && !only_counts(gate.record) && is_of_answers(gate.record) &&
        holds(gate.record, call))
      gate.probing = true;
  if (call.instance.value != 0 && call.op == CloudOp::kCreate) boot_sent(call, now);
}

std::vector<std::string> Gates::succeeded(const GateQuery& call) {
  std::vector<std::string> opened;
  for (auto it = gates_.begin(); it != gates_.end();) {
    const bool counts = only_counts(it->second.record);
    if (!(it->second.probing || counts) || !is_of_answers(it->second.record) ||
        !holds(it->second.record, call)) {
      ++it;
      continue;
    }
    if (!counts) opened.push_back(it->first);
    it = gates_.erase(it);
  }
  return opened;
}

template <class Which>
std::vector<std::string> Gates::open_all(const Which& which) {
  std::vector<std::string> opened;
  for (auto it = gates_.begin(); it != gates_.end();) {
    const bool opens = which(it->second.record);
    if (opens) opened.push_back(it->first);
    it = opens ? gates_.erase(it) : std::next(it);
  }
  return opened;
}

std::vector<std::string> Gates::destroyed(const std::string& set, const std::string& group) {
  using model::scope::kGroup;
  return open_all([&](const GateRecord& r) {
    // Whose group was not known may have been of this one.
    const bool is_of_group =
        (r.scope & kGroup) == 0 || r.group == group || (r.scope & left_to_driver(kGroup)) != 0;
    return r.cls == CloudErrorClass::kQuota && r.set == set && is_of_group;
  });
}

std::vector<std::string> Gates::restarted() {
  return open_all([](const GateRecord& r) { return is_for_good(r.cls, r.op); });
}

std::vector<std::string> Gates::reloaded() {
  return open_all([](const GateRecord& r) {
    return is_for_good(r.cls, r.op) || r.cls == CloudErrorClass::kQuota;
  });
}

std::vector<std::string> Gates::driver_replaced(const std::string& set) {
  return open_all([&](const GateRecord& r) {
    const bool may_be_over = r.cls == CloudErrorClass::kAuth ||
                             r.cls == CloudErrorClass::kInternal ||
                             r.cls == CloudErrorClass::kQuota || is_for_good(r.cls, r.op);
    return r.set == set && may_be_over;
  });
}

std::optional<GateRecord> Gates::open(const std::string& key) {
  const auto found = gates_.find(key);
  if (found == gates_.end() || only_counts(found->second.record)) return std::nullopt;
  const GateRecord& record = found->second.record;
  if (is_of_crashes(record) && !holds_back_crashes(record)) return std::nullopt;
  return std::move(gates_.extract(found).mapped().record);
}

void Gates::boot_sent(const GateQuery& boot, Mono now) {
  for (auto& [key, gate] : gates_) {
    if (!is_of_boots(gate.record) || gate.is_shut(now) || !holds(gate.record, boot)) continue;
    gate.probing = true;
    gate.prober = boot.instance;
  }
}

std::vector<GateRecord> Gates::boot_failed(const GateQuery& boot, std::vector<GateRecord> shut,
                                           const std::string& text, Now now, Random& random) {
  // A gate that another host probes waits for that one.
  const auto has_failed = [&](const Gate& gate) {
    return gate.until <= now.mono && (!gate.probing || gate.prober == boot.instance);
  };
  for (const auto& [key, gate] : gates_) {
    if (!is_of_boots(gate.record) || !has_failed(gate) || !holds(gate.record, boot)) continue;
    if (std::ranges::find(shut, key, &GateRecord::key) != shut.end()) continue;
    shut.push_back(gate.record);
    shut.back().message = "the host that was tried did not come up either: " + text;
  }
  std::vector<GateRecord> out;
  for (GateRecord& record : shut) {
    const auto [found, fresh] = gates_.try_emplace(record.key);
    Gate& gate = found->second;
    if (!fresh && !has_failed(gate)) continue;
    record.failures = fresh ? 1 : gate.record.failures + (gate.record.failures < 1000 ? 1 : 0);
    const auto steps = back_off(record.cls, record.op);
    const Duration shut_for = time_shut(record, *steps, std::nullopt, random);
    record.until = now.wall + shut_for;
    gate = {.record = record, .until = now.mono + shut_for, .probing = false};
    out.push_back(std::move(record));
  }
  return out;
}

std::vector<std::string> Gates::booted(const GateQuery& boot) {
  return open_boots([&](const GateRecord& r) { return holds(r, boot); });
}

void Gates::boot_unknown(const GateQuery& boot, Now now) {
  for (auto& [key, gate] : gates_) {
    if (!gate.probing || gate.prober != boot.instance || !is_of_boots(gate.record)) continue;
    gate.probing = false;
    gate.until = now.mono + kProbePause;
  }
}

std::vector<std::string> Gates::open_boots(const std::function<bool(const GateRecord&)>& which) {
  std::vector<std::string> opened;
  for (auto it = gates_.begin(); it != gates_.end();) {
    const bool opens = is_of_boots(it->second.record) && which(it->second.record);
    if (opens) opened.push_back(it->first);
    it = opens ? gates_.erase(it) : std::next(it);
  }
  return opened;
}

void Gates::restore(const GateRecord& record, Now now) {
  // If the wall clock jumped, the gate is shut no longer than usual; a probe may come early.
  const auto steps = back_off(record.cls, record.op);
  const Duration most = steps ? steps->most * 5 / 4 : Duration::zero();
  const Duration left = std::clamp(record.until - now.wall, Duration::zero(), most);
  Gate& gate = gates_[record.key] = {.record = record, .until = now.mono + left};
  gate.record.under_way = false;
}

}  // namespace hostler::scheduler
