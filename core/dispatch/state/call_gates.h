#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/state/host.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/questions/images.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"
#include "core/gates/gates.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// The gates of driver calls. Each one that shuts or opens is journalled, and is worth a plan.
class CallGates {
 public:
  /// The others outlive it. `seed`: of the jitter of back-off.
  CallGates(const model::SitePolicy& policy, const Sets& sets, const Images& images,
            Recorder& recorder, PlanState& plan, std::uint64_t seed)
      : policy_(policy),
        sets_(sets),
        images_(images),
        recorder_(recorder),
        plan_(plan),
        random_(seed) {}

  /// A row of the journal.
  void restore(const model::GateRecord& gate, Now now) { gates_.restore(gate, now); }
  /// The gate that holds the call back now; null: none.
  [[nodiscard]] const gates::Gate* shut(const gates::GateQuery& call, Mono now) const {
    return gates_.shut(call, now);
  }
  /// The call is made now: a half-open gate holds back all other calls until its answer.
  void sent(const gates::GateQuery& call, Mono now) {
    gates_.passing(call, now);
    began(call, now);
  }
  /// The answer to the call; `error` null: it succeeded.
  void answered(const gates::GateQuery& call, const model::CloudError* error, Now now);
  /// The same of a call that creates do not need. An account that may not make it may still create:
  /// unless the limit of its rate was reached, only calls of the operation are held back.
  void side_call_answered(const gates::GateQuery& call, const model::CloudError* error, Now now);
  /// Nobody waits for the answer any more, because the instance is gone: another call may probe
  /// after a pause.
  void abandoned(const gates::GateQuery& call, Now now);
  /// Shuts a gate as if such a call had been refused, although none has ended.
  void refused(const gates::GateQuery& call, const model::CloudError& error, Now now,
               gates::Told told = gates::Told::kInAnswer);
  // Crashes alone (crashes.cc): of calls whose refusals shut no gate. sent() and answered() call
  // them for the others.

  /// The gate that holds such a call back, as the driver died of it; null: none.
  [[nodiscard]] const gates::Gate* held_by_crashes(const gates::GateQuery& call, Mono now) const;
  /// The call is made now.
  void began(const gates::GateQuery& call, Mono now) { gates_.began(call, now); }
  void ended(const gates::GateQuery& call, const model::CloudError* error, Now now);
  /// Such a call is never made again: forgets the crashes in it.
  void forget(const gates::GateQuery& call);
  /// A driver was loaded for the set: crashes of another file are forgotten. Returns the gates that
  /// this opens.
  std::vector<model::GateRecord> driver_loaded(const std::string& set,
                                               const model::DriverFile& driver, Now now);

  /// An instance of the quota group is gone.
  void destroyed(const std::string& set, const std::string& group, const std::string& why, Now now);
  /// The daemon has started with a configuration that may have been corrected.
  void restarted(Now now);
  /// An admin had the configuration read again.
  void reloaded(Now now);
  /// The set has another driver, or the same one with other settings.
  void driver_replaced(const std::string& set, Now now);
  /// An admin opens a gate; `why` names who. Returns the gate; none: there is no such gate.
  std::optional<model::GateRecord> open(const std::string& key, const std::string& why, Now now);

  /// The cloud asks a price that is doubted for what this create asks for: none is made until an
  /// admin opens the gate, or configures a price at which it is not doubted.
  void price_doubted(const gates::GateQuery& create, model::Micros price, model::Micros configured,
                     Now now);
  void open_prices(const std::function<bool(const model::GateRecord&)>& which, Now now);

  // Of boot gates; see gates::Gates.
  void boot_sent(const gates::GateQuery& boot, Now now) { gates_.boot_sent(boot, now.mono); }
  void boot_failed(const gates::GateQuery& boot, std::vector<model::GateRecord> shut,
                   const std::string& text, Now now);
  void booted(const gates::GateQuery& boot, const std::string& why, Now now);
  void boot_unknown(const gates::GateQuery& boot, Now now);
  /// More about the boot of the host `id`, which boot gates name as the last one that failed.
  void tell_of_boots(const std::string& id, const std::string& more);
  void open_boots(const std::function<bool(const model::GateRecord&)>& which,
                  const std::string& why, Now now);

  [[nodiscard]] gates::GateQuery create_query(const scheduler::Offering& offering) const;
  [[nodiscard]] gates::GateQuery query(const Host& host, model::CloudOp op) const;
  /// A call that writes tags is about no type, zone or market.
  [[nodiscard]] static gates::GateQuery tags_query(const Host& host);
  /// By key.
  [[nodiscard]] const std::map<std::string, gates::Gate>& all() const { return gates_.all(); }

 private:
  [[nodiscard]] bool is_in_use(const std::string& set, const model::DriverFile& driver) const;
  void tell_no_descriptors(const std::string& set, const model::CloudError& error, Now now);
  void crashed(const gates::GateQuery& call, const model::DriverCrash& crash, Now now);
  void journal_shut(std::optional<model::GateRecord> shut, const model::CloudError& error, Now now);
  void opened(const char* actor, std::vector<std::string> keys, const std::string& why, Now now);

  const model::SitePolicy& policy_;
  const Sets& sets_;
  const Images& images_;
  Recorder& recorder_;
  PlanState& plan_;
  gates::Gates gates_;
  Random random_;
  std::map<std::string, Mono> descriptors_told_;  ///< By set: when it was last an event.
};

}  // namespace hostler::dispatch
