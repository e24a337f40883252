#pragma once

#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// Writes tags again that a list shows changed or missing. Without them the instance could not be
/// recognised after the loss of the store, or by another daemon.
class TagRepair {
 public:
  TagRepair(const model::SitePolicy& policy, Sets& sets, CallGates& gates, Recorder& recorder)
      : policy_(policy), sets_(sets), gates_(gates), recorder_(recorder) {}

  /// A list of the set begins: it may lead to a few repairs.
  void begin(Set& set) const;
  /// A list or a look-up shows the host. `as_of`: its data are not older than this. True: its tags
  /// are right.
  bool check(Host& host, const model::ListedInstance& seen, Mono as_of, Now now);
  /// A call that writes tags has ended.
  void ended(Host& host, const model::CloudError* error, Now now);

 private:
  /// The tags that the cloud does not have as the journal does.
  [[nodiscard]] model::Tags wrong_tags(const Host& host, const model::ListedInstance& seen) const;

  const model::SitePolicy& policy_;
  Sets& sets_;
  CallGates& gates_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch
