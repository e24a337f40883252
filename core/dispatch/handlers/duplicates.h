#pragma once

#include <string>
#include <vector>

#include "core/dispatch/handlers/instance_steps.h"

namespace hostler::dispatch {

/// Finds machines that carry one key: a create was sent again while the first was still under way,
/// to a cloud that does not honour keys.
class Duplicates {
 public:
  Duplicates(const model::SitePolicy& policy, Hosts& hosts, Recorder& recorder,
             InstanceSteps& steps)
      : policy_(policy), hosts_(hosts), recorder_(recorder), steps_(steps) {}

  /// Keeps the machine that the host's record names. Makes each other machine an instance of its
  /// own, enters it into the sightings, and destroys it. After `most` of them it takes the others
  /// out of the sightings: the next list shows them.
  void end(const Set& set, std::vector<Sighting>& all, std::size_t most, Now now);

 private:
  void end_one(const Host& of, const model::ListedInstance& seen, const std::string& kept, Now now);

  const model::SitePolicy& policy_;
  Hosts& hosts_;
  Recorder& recorder_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
