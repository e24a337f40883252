#include <chrono>
#include <utility>

#include "core/base/units.h"
#include "core/dispatch/state/call_gates.h"

/// Calls in which a driver died. See docs/adr/0014-crashes-of-drivers-are-gates.md.
namespace hostler::dispatch {
namespace {

constexpr Duration kToldAgain = std::chrono::hours(1);

/// How it goes on, for an admin.
std::string outlook(const model::GateRecord& gate) {
  return "; not asked again before " + format_wall(gate.until) +
         ", or after: hostler gates open \"" + gate.key + '"' +
         (gate.op == model::CloudOp::kDestroy
              ? "; " + gate.instance.text() + " is not destroyed, and costs money"
              : "");
}

}  // namespace

const gates::Gate* CallGates::held_by_crashes(const gates::GateQuery& call, Mono now) const {
  for (const auto& [key, gate] : gates_.all())
    if (gates::is_of_crashes(gate.record) && gate.is_shut(now) && gates::holds(gate.record, call))
      return &gate;
  return nullptr;
}

void CallGates::ended(const gates::GateQuery& call, const model::CloudError* error, Now now) {
  if (error != nullptr && error->no_descriptors) tell_no_descriptors(call.set, *error, now);
  if (error != nullptr && error->crash && is_in_use(call.set, error->crash->driver))
    return crashed(call, *error->crash, now);
  auto forgotten = gates_.survived(call, error == nullptr, now);
  if (!forgotten) return;
  if (gates::holds_back_crashes(*forgotten))
    opened("cloud", {std::move(forgotten->key)}, "a call passed", now);
  else
    recorder_.change(model::GateOpened{std::move(forgotten->key)});
}

/// An earlier driver ends its calls while another one is in use: its crashes say nothing of that.
bool CallGates::is_in_use(const std::string& set, const model::DriverFile& driver) const {
  const auto index = sets_.index_of(set);
  if (!index) return true;
  const std::string& file = sets_.at(*index).driver.file.file;
  return file.empty() || driver.file.empty() || driver.file == file;
}

void CallGates::tell_no_descriptors(const std::string& set, const model::CloudError& error,
                                    Now now) {
  const auto [told, first] = descriptors_told_.try_emplace(set, now.mono);
  if (!first && now.mono < told->second + kToldAgain) return;
  told->second = now.mono;
  recorder_.record("cloud", "set " + set, model::Event::kNoDescriptors, "",
                   error.message + ": raise LimitNOFILE of hostlerd", now);
}

void CallGates::abandoned(const gates::GateQuery& call, Now now) {
  gates_.abandoned(call, now);
  (void)gates_.survived(call, false, now);
}

void CallGates::forget(const gates::GateQuery& call) {
  if (auto key = gates_.forget_crashes(call)) recorder_.change(model::GateOpened{*std::move(key)});
}

void CallGates::crashed(const gates::GateQuery& call, const model::DriverCrash& crash, Now now) {
  auto row = gates_.crashed(call, crash, now);
  if (!row) return;
  const std::string set = "set " + call.set;
  recorder_.record("cloud", set, model::Event::kDriverCrashed, crash.call, row->message, now);
  if (gates::holds_back_crashes(*row)) {
    recorder_.record("cloud", "gate " + row->key, model::Event::kGateShut,
                     model::to_string(row->cls), row->message, now);
    recorder_.record("cloud", set, model::Event::kCallHeldBack, crash.call,
                     row->message + outlook(*row), now);
  }
  recorder_.change(model::GateChanged{*std::move(row)});
  plan_.want();
}

std::vector<model::GateRecord> CallGates::driver_loaded(const std::string& set,
                                                        const model::DriverFile& driver, Now now) {
  std::vector<model::GateRecord> out;
  for (auto& gate : gates_.driver_loaded(set, driver.file)) {
    if (!gates::holds_back_crashes(gate)) {
      recorder_.change(model::GateOpened{gate.key});
      continue;
    }
    opened("cloud", {gate.key}, "another file of driver " + driver.name + " was loaded", now);
    out.push_back(std::move(gate));
  }
  return out;
}

}  // namespace hostler::dispatch
