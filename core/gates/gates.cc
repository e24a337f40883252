#include "core/gates/gates.h"

#include <algorithm>
#include <chrono>

#include "core/gates/gate_scopes.h"

namespace hostler::gates {
namespace {

using namespace std::chrono_literals;
using model::CloudErrorClass;
using model::CloudOp;
using model::GateRecord;

constexpr Duration kRetryMax = 24h;
constexpr Duration kProbePause = 5s;
constexpr std::uint32_t kInternalErrorsMax = 5;
/// No call opens such a gate: an admin does.
constexpr Duration kUntilOpened = 24h * 3650;

struct BackOff {
  Duration first, most;
};

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
    case CloudErrorClass::kKeyMismatch:  // A create has no key to compare: a defect of the driver.
      return BackOff{30s, 10min};
    case CloudErrorClass::kBoot:
      return BackOff{30s, 30min};
    case CloudErrorClass::kDriverCrashes:
      return BackOff{1h, 24h};  // As crash_gates.cc shuts them.
    case CloudErrorClass::kPrice:
      return BackOff{kUntilOpened, kUntilOpened};
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

std::optional<GateRecord> Gates::refuse(const GateQuery& call, const model::CloudError& error,
                                        Now now, Random& random) {
  // The probe is over. Gates that it did not open wait a little before the next one.
  for (auto& [key, gate] : gates_) {
    if (!gate.probing || !is_of_answers(gate.record) || !holds(gate.record, call)) continue;
    gate.probing = false;
    gate.until = gate.record.cls == error.cls ? now.mono : now.mono + kProbePause;
  }
  return close(call, error, now, random);
}

std::optional<GateRecord> Gates::close(const GateQuery& call, const model::CloudError& error,
                                       Now now, Random& random, Told told) {
  const auto steps = back_off(error.cls, call.op);
  if (!steps) return std::nullopt;

  GateRecord record = record_of(call, error, told);
  const auto [found, fresh] = gates_.try_emplace(record.key);
  Gate& gate = found->second;
  if (!fresh && !only_counts(gate.record) && gate.until > now.mono) return std::nullopt;
  count_failure(record, fresh ? nullptr : &gate.record, now.wall);
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
    if (!gate.probing && gate.until <= now && !only_counts(gate.record) &&
        is_of_answers(gate.record) && holds(gate.record, call)) {
      gate.probing = true;
      gate.probe_op = call.op;
      gate.probe_of = call.instance;
    }
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

void Gates::abandoned(const GateQuery& call, Now now) {
  for (auto& [key, gate] : gates_) {
    const bool is_probe = gate.probing && gate.probe_op == call.op &&
                          gate.probe_of == call.instance && is_of_answers(gate.record);
    if (!is_probe || !holds(gate.record, call)) continue;
    gate.probing = false;
    gate.until = now.mono + kProbePause;
  }
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
        (r.scope & kGroup) == 0 || r.group == group || leaves_group_to_driver(r);
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
    if (!is_probed_by_boots(gate.record) || gate.is_shut(now) || !holds(gate.record, boot))
      continue;
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
    count_failure(record, fresh ? nullptr : &gate.record, now.wall);
    const auto steps = back_off(record.cls, record.op);
    const Duration shut_for = time_shut(record, *steps, std::nullopt, random);
    record.until = now.wall + shut_for;
    gate = {.record = record, .until = now.mono + shut_for, .probing = false};
    out.push_back(std::move(record));
  }
  return out;
}

std::vector<std::string> Gates::booted(const GateQuery& boot) {
  auto opened = open_boots([&](const GateRecord& r) { return holds(r, boot); });
  std::erase_if(gates_, [&](const auto& entry) {
    const auto& [key, gate] = entry;
    const bool is_probe = gate.probing && gate.prober == boot.instance;
    if (!is_probe || !was_told_later(gate.record)) return false;
    opened.push_back(key);
    return true;
  });
  return opened;
}

void Gates::boot_unknown(const GateQuery& boot, Now now) {
  for (auto& [key, gate] : gates_) {
    if (!gate.probing || gate.prober != boot.instance || !is_probed_by_boots(gate.record)) continue;
    gate.probing = false;
    gate.until = now.mono + kProbePause;
  }
}

std::vector<GateRecord> Gates::tell_of_boots(const std::string& id, const std::string& more) {
  std::vector<GateRecord> out;
  for (auto& [key, gate] : gates_) {
    if (!is_of_boots(gate.record) || gate.record.message.find(id + ": ") == std::string::npos)
      continue;
    gate.record.message += "; " + more;
    out.push_back(gate.record);
  }
  return out;
}

std::vector<std::string> Gates::open_boots(const std::function<bool(const GateRecord&)>& which) {
  return open_all([&](const GateRecord& r) { return is_of_boots(r) && which(r); });
}

std::vector<std::string> Gates::open_prices(const std::function<bool(const GateRecord&)>& which) {
  return open_all(
      [&](const GateRecord& r) { return r.cls == CloudErrorClass::kPrice && which(r); });
}

void Gates::restore(const GateRecord& record, Now now) {
  // If the wall clock jumped, the gate is shut no longer than usual; a probe may come early.
  const auto steps = back_off(record.cls, record.op);
  const Duration most = steps ? steps->most * 5 / 4 : Duration::zero();
  const Duration left = std::clamp(record.until - now.wall, Duration::zero(), most);
  gates_[record.key] = {.record = record, .until = now.mono + left};
}

}  // namespace hostler::gates
