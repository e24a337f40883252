#pragma once

#include <optional>

#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"
#include "core/gates/governor.h"

namespace hostler::dispatch {

/// Sends the driver calls of one instance. A call that a gate or a ceiling holds back is not sent.
/// The instance's state still shows that the call is needed, and its deadline repeats the attempt.
class InstanceCalls {
 public:
  InstanceCalls(const model::SitePolicy& policy, Sets& sets, Hosts& hosts, CallGates& gates,
                gates::Governor& governor, Recorder& recorder)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        gates_(gates),
        governor_(governor),
        recorder_(recorder) {}

  /// Why the create of a new instance, which was never executed, will not be sent: the cloud asks a
  /// price that is doubted. nullopt: it will be sent.
  [[nodiscard]] std::optional<model::CloudError> gives_up_create(const Host& host, Now now) const;
  /// The request that was journalled with the intent, byte for byte.
  void create(Host& host, Now now);
  /// The same request for an instance that the cloud shows. Nothing is sent if the cloud does not
  /// know the keys of creates, or while a gate or a ceiling holds creates back.
  void finish_create(Host& host, Now now);
  void destroy(Host& host, Now now);
  /// The tag of the idle behavior. Not while the set is closed or the driver dies of it: a later
  /// list shows the difference.
  void set_tags(Host& host, Now now);
  /// `op` is kStart or kStop.
  void power(Host& host, model::CloudOp op, Now now);

 private:
  /// The rate of creates has room. If not, the next room is reserved: otherwise new instances would
  /// take it, which are asked for at the moment when there is room.
  bool has_reached_its_turn(Host& host, Mono now);
  void send_create(Host& host, const gates::GateQuery& query, Now now);
  /// When a create may be sent that would pass the ceiling of a rate now; unset: it may now.
  [[nodiscard]] std::optional<Mono> rate_bound(const Host& host, Mono now) const;

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  CallGates& gates_;
  gates::Governor& governor_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch
