#include <algorithm>
#include <chrono>
#include <utility>

#include "core/gates/gates.h"

/// Gates of crashes: calls in which the driver died.
namespace hostler::gates {
namespace {

using namespace std::chrono_literals;
using model::CloudOp;
using model::GateRecord;

/// Once may be chance: out of memory, a library that was being upgraded.
constexpr std::uint32_t kCrashesInARow = 2;
constexpr Duration kShutFirst = 1h, kShutMost = 24h;
/// After a probe that proved nothing: many errors are answered before the driver is asked.
constexpr Duration kProbeFailedPause = 5s;

Duration time_shut(std::uint32_t crashes) {
  Duration out = kShutFirst;
  for (std::uint32_t n = kCrashesInARow; n < crashes && out < kShutMost; ++n) out *= 2;
  return std::min(out, kShutMost);
}

/// The record of a call, without a crash. Its key has all that tells this call from others.
GateRecord record_of(const GateQuery& call) {
  using namespace model::scope;
  GateRecord r;
  r.set = call.set;
  r.op = call.op;
  r.cls = model::CloudErrorClass::kDriverCrashes;
  r.scope = kOperation;
  r.key = r.set + " " + to_string(r.cls) + " op=" + to_string(r.op);
  if (call.op == CloudOp::kDestroy) {
    r.instance = call.instance;
    r.key += " instance=" + r.instance.text();
  }
  if (call.op != CloudOp::kCreate) return r;
  r.scope |= kType | kMarket;
  r.type = call.type;
  r.market = call.market;
  r.pool = call.pool;
  r.key += " type=" + r.type;
  if (!call.zone.empty()) {
    r.scope |= kZone;
    r.zone = call.zone;
    r.key += " zone=" + r.zone;
  }
  r.key += std::string(" market=") + to_string(call.market) + " pool=" + r.pool;
  return r;
}

}  // namespace

bool is_of_crashes(const GateRecord& gate) {
  return gate.cls == model::CloudErrorClass::kDriverCrashes;
}

bool holds_back_crashes(const GateRecord& gate) {
  return is_of_crashes(gate) && gate.failures >= kCrashesInARow;
}

GateQuery Gates::call_of(const GateRecord& record) {
  return {.set = record.set,
          .op = record.op,
          .type = record.type,
          .zone = record.zone,
          .market = record.market.value_or(model::Market::kOnDemand),
          .pool = record.pool,
          .instance = record.instance};
}

std::optional<GateRecord> Gates::began(const GateQuery& call, const model::DriverFile* driver,
                                       Mono now) {
  GateRecord record = record_of(call);
  const auto found = gates_.find(record.key);
  if (found != gates_.end() && holds_back_crashes(found->second.record))
    found->second.probing = found->second.until <= now;
  if (driver == nullptr) return std::nullopt;
  record.message = "such a call is under way";
  record.crash = {.driver = *driver, .call = to_string(call.op), .ending = {}, .output = {}};
  Gate& gate =
      found != gates_.end() ? found->second : gates_[record.key] = {.record = record, .until = now};
  ++gate.under_way;
  if (std::exchange(gate.record.under_way, true)) return std::nullopt;
  return gate.record;
}

std::optional<Gates::AfterCall> Gates::survived(const GateQuery& call, bool succeeded, Now now) {
  const auto found = gates_.find(record_of(call).key);
  if (found == gates_.end()) return std::nullopt;
  Gate& gate = found->second;
  GateRecord& record = gate.record;
  if (gate.under_way > 0) --gate.under_way;
  const bool leaves = std::exchange(record.under_way, gate.under_way > 0) && !record.under_way;
  const bool is_shut = holds_back_crashes(record);
  const bool probed = std::exchange(gate.probing, false);
  // A call that was made before its gate was shut says nothing.
  const bool forgives = succeeded && (probed || !is_shut);
  if (forgives && is_shut) {
    AfterCall out{std::move(record), true, true};
    gates_.erase(found);
    return out;
  }
  if (probed) gate.until = now.mono + kProbeFailedPause;
  const bool had_crash = record.failures > 0;
  if (forgives) record.failures = 0;
  if (record.failures == 0 && !record.under_way) {
    AfterCall out{std::move(record), true, false};
    gates_.erase(found);
    return out;
  }
  if (!leaves && !(forgives && had_crash)) return std::nullopt;
  return AfterCall{record, false, false};
}

std::optional<GateRecord> Gates::crashed(const GateQuery& call, const model::DriverCrash& crash,
                                         Now now) {
  GateRecord record = record_of(call);
  const auto [found, fresh] = gates_.try_emplace(record.key);
  Gate& gate = found->second;
  const bool is_same = !fresh && gate.record.crash && gate.record.failures > 0 &&
                       gate.record.crash->driver.file == crash.driver.file;
  // A call that was made before its gate was shut says nothing. The pause after a probe is no such
  // time: of several calls that went out with the probe, the crash may be answered last.
  if (is_same && holds_back_crashes(gate.record) && gate.until > now.mono + kProbeFailedPause)
    return std::nullopt;
  record.failures = is_same ? gate.record.failures + (gate.record.failures < 1000 ? 1 : 0) : 1;
  record.under_way = gate.record.under_way;
  record.crash = crash;
  record.message = to_string(crash);
  gate.until = now.mono;
  gate.probing = false;
  if (record.failures >= kCrashesInARow) {
    const Duration shut_for = time_shut(record.failures);
    gate.until = now.mono + shut_for;
    record.until = now.wall + shut_for;
    record.message =
        (record.failures == kCrashesInARow ? "twice" : std::to_string(record.failures) + " times") +
        " in a row: " + record.message;
  }
  gate.record = std::move(record);
  return gate.record;
}

std::optional<std::string> Gates::forget_crashes(const GateQuery& call) {
  const auto found = gates_.find(record_of(call).key);
  if (found == gates_.end()) return std::nullopt;
  return std::move(gates_.extract(found).key());
}

std::vector<GateRecord> Gates::driver_loaded(const std::string& set, const std::string& file) {
  std::vector<GateRecord> out;
  std::erase_if(gates_, [&](const auto& entry) {
    const GateRecord& r = entry.second.record;
    const bool is_old =
        is_of_crashes(r) && r.set == set && (!r.crash || r.crash->driver.file != file);
    if (is_old) out.push_back(r);
    return is_old;
  });
  return out;
}

std::vector<Gates::AfterCall> Gates::stopped() {
  std::vector<AfterCall> out;
  for (auto& [key, gate] : gates_) {
    gate.under_way = 0;
    if (!std::exchange(gate.record.under_way, false)) continue;
    out.push_back({gate.record, gate.record.failures == 0, false});
  }
  return out;
}

}  // namespace hostler::gates
