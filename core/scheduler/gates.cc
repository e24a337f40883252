#include "core/scheduler/gates.h"

#include <algorithm>
#include <chrono>

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
      return BackOff{30s, 10min};
    case CloudErrorClass::kInvalid:
    case CloudErrorClass::kUnsupported:
    case CloudErrorClass::kNotFound:
    case CloudErrorClass::kConflict:
    case CloudErrorClass::kTransient:
    case CloudErrorClass::kTimeout:
    case CloudErrorClass::kCancelled:
    case CloudErrorClass::kKeyMismatch:
    case CloudErrorClass::kMisbehaving:
      break;
  }
  return std::nullopt;
}

/// A start needs stock and quota as a create does, so the gates of creates hold for it.
CloudOp gated(CloudOp op) { return op == CloudOp::kStart ? CloudOp::kCreate : op; }

/// The scope of the gate: the driver's, or the default of the error's class; the refused call is
/// always within it.
std::uint32_t effective_scope(const GateQuery& call, const model::CloudError& error) {
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
  // Types without a group have no quota in common.
  if ((bits & kGroup) != 0 && call.group.empty()) bits = (bits & ~kGroup) | kType;
  return bits;
}

GateRecord record_of(const GateQuery& call, const model::CloudError& error) {
  using namespace model::scope;
  GateRecord r;
  r.set = call.set;
  r.op = gated(call.op);
  r.cls = error.cls;
  r.scope = effective_scope(call, error);
  r.message = error.message;
  r.key = r.set + " " + to_string(r.cls);
  const auto narrow = [&r](const char* name, const std::string& value) {
    r.key += std::string(" ") + name + "=" + value;
  };
  if ((r.scope & kOperation) != 0) narrow("op", to_string(r.op));
  if ((r.scope & kType) != 0) narrow("type", r.type = call.type);
  if ((r.scope & kGroup) != 0) narrow("group", r.group = call.group);
  if ((r.scope & kZone) != 0) narrow("zone", r.zone = call.zone);
  if ((r.scope & kSubnet) != 0) narrow("subnet", r.subnet = call.subnet);
  if ((r.scope & kRegion) != 0) narrow("region", r.region = call.region);
  if ((r.scope & kMarket) != 0) {
    r.market = call.market;
    narrow("market", to_string(call.market));
  }
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
  const auto same = [&r](std::uint32_t bit, const std::string& a, const std::string& b) {
    return (r.scope & bit) == 0 || a == b;
  };
  // A create that is wrong, by its image for example, says nothing about a start.
  const CloudOp op = is_for_good(r.cls, r.op) ? call.op : gated(call.op);
  return r.set == call.set && ((r.scope & kOperation) == 0 || r.op == op) &&
         same(kType, r.type, call.type) && same(kGroup, r.group, call.group) &&
         same(kZone, r.zone, call.zone) && same(kSubnet, r.subnet, call.subnet) &&
         same(kRegion, r.region, call.region) &&
         ((r.scope & kMarket) == 0 || r.market == call.market);
}

std::optional<GateRecord> Gates::refuse(const GateQuery& call, const model::CloudError& error,
                                        Now now, Random& random) {
  // The probe is over. Gates that it did not open wait a little before the next one.
  for (auto& [key, gate] : gates_) {
    if (!gate.probing || !holds(gate.record, call)) continue;
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
  for (const auto& [key, gate] : gates_)
    if (gate.is_shut(now) && holds(gate.record, call) &&
        (longest == nullptr || gate.until > longest->until))
      longest = &gate;
  return longest;
}

void Gates::passing(const GateQuery& call, Mono now) {
  for (auto& [key, gate] : gates_)
    if (gate.until <= now && !only_counts(gate.record) && holds(gate.record, call))
      gate.probing = true;
}

std::vector<std::string> Gates::succeeded(const GateQuery& call) {
  std::vector<std::string> opened;
  for (auto it = gates_.begin(); it != gates_.end();) {
    const bool counts = only_counts(it->second.record);
    if (!(it->second.probing || counts) || !holds(it->second.record, call)) {
      ++it;
      continue;
    }
    if (!counts) opened.push_back(it->first);
    it = gates_.erase(it);
  }
  return opened;
}

std::vector<std::string> Gates::destroyed(const std::string& set, const std::string& group) {
  std::vector<std::string> opened;
  for (auto it = gates_.begin(); it != gates_.end();) {
    const GateRecord& r = it->second.record;
    const bool frees = r.cls == CloudErrorClass::kQuota && r.set == set &&
                       ((r.scope & model::scope::kGroup) == 0 || r.group == group);
    if (frees) opened.push_back(it->first);
    it = frees ? gates_.erase(it) : std::next(it);
  }
  return opened;
}

std::vector<std::string> Gates::settings_changed() {
  std::vector<std::string> opened;
  for (auto it = gates_.begin(); it != gates_.end();) {
    const bool may_be_mended = is_for_good(it->second.record.cls, it->second.record.op);
    if (may_be_mended) opened.push_back(it->first);
    it = may_be_mended ? gates_.erase(it) : std::next(it);
  }
  return opened;
}

void Gates::restore(const GateRecord& record, Now now) {
  // If the wall clock jumped, the gate is shut no longer than usual; a probe may come early.
  const auto steps = back_off(record.cls, record.op);
  const Duration most = steps ? steps->most * 5 / 4 : Duration::zero();
  const Duration left = std::clamp(record.until - now.wall, Duration::zero(), most);
  gates_[record.key] = {.record = record, .until = now.mono + left, .probing = false};
}

}  // namespace hostler::scheduler
