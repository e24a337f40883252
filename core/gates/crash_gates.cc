#include <algorithm>
#include <chrono>
#include <utility>

#include "core/gates/gate_scopes.h"

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

void Gates::began(const GateQuery& call, Mono now) {
  const auto found = gates_.find(record_of(call).key);
  if (found != gates_.end() && holds_back_crashes(found->second.record))
    found->second.probing = found->second.until <= now;
}

std::optional<GateRecord> Gates::survived(const GateQuery& call, bool succeeded, Now now) {
  const auto found = gates_.find(record_of(call).key);
  if (found == gates_.end()) return std::nullopt;
  Gate& gate = found->second;
  const bool probed = std::exchange(gate.probing, false);
  // A call that was made before its gate was shut says nothing.
  if (succeeded && (probed || !holds_back_crashes(gate.record)))
    return std::move(gates_.extract(found).mapped().record);
  if (probed) gate.until = now.mono + kProbeFailedPause;
  return std::nullopt;
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
  count_failure(record, is_same ? &gate.record : nullptr, now.wall);
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

}  // namespace hostler::gates
