#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dispatch/handlers/adoptions.h"
#include "core/dispatch/handlers/duplicates.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/handlers/interruptions.h"
#include "core/dispatch/handlers/tag_repair.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// Asks clouds for lists of their sets, and brings the instances into agreement with the answers.
class ListEvents {
 public:
  ListEvents(const model::SitePolicy& policy, Sets& sets, Hosts& hosts, CallGates& gates,
             PlanState& plan, Recorder& recorder, const SetAside& set_aside,
             const std::vector<std::string>& take_over_sets, Adoptions& adoptions,
             Duplicates& duplicates, TagRepair& tags, InstanceSteps& steps,
             Interruptions& interruptions)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        gates_(gates),
        plan_(plan),
        recorder_(recorder),
        set_aside_(set_aside),
        take_over_sets_(take_over_sets),
        adoptions_(adoptions),
        duplicates_(duplicates),
        tags_(tags),
        steps_(steps),
        interruptions_(interruptions) {}

  /// Sends the set's list if one is due. O(hosts of the site) when a good list becomes overdue.
  void send_due(std::uint32_t set, Now now);
  /// Takes the first part of the list. O(instances of the set).
  void on(const SetListed& event, Now now);
  /// Takes the next part of a long list.
  void go_on(std::uint32_t set, Now now);

 private:
  /// Finds out what the list shows; nothing is taken yet.
  [[nodiscard]] ListInHand read(std::uint32_t set, const SetListed& event, Now now);
  void finish(std::uint32_t set, ListInHand done, Now now);
  void set_overdue(std::uint32_t set);
  void suspend_by(Set& set, const gates::Gate& gate);
  void failed(std::uint32_t set, const model::CloudError& error, Now now);
  /// Of the entries that are not settled: instances that are not gone. A spot request that is
  /// listed beside the instance it has become is left out. Unset: one of them is of a host that a
  /// settled entry shows too.
  [[nodiscard]] std::optional<std::vector<Sighting>> recognise(
      const Set& set, const std::vector<LastList::Entry>& entries);
  /// The host has this id in the cloud.
  [[nodiscard]] bool is_still(const Set& set, std::optional<model::InstanceId> host,
                              const std::string& id) const;
  /// A settled entry of the list under way is this host's.
  [[nodiscard]] bool is_shown_settled(const Set& set, model::InstanceId id) const;
  void note_error_of_gone(const model::ListedInstance& seen,
                          std::optional<model::InstanceId> known);
  [[nodiscard]] bool is_of(const Set& set, const model::ListedInstance& seen) const;
  /// Reports what no list should show: instances twice, those of others, or machines as requests.
  void report_flaws(Set& set, const std::vector<Sighting>& all, std::size_t false_requests,
                    Now now);
  [[nodiscard]] static bool is_twin(const model::InstanceRecord& record,
                                    const model::ListedInstance& seen);
  /// Machines of the set that the journal does not have, or a second time.
  [[nodiscard]] std::vector<Stranger> strangers(std::uint32_t set,
                                                const std::vector<LastList::Entry>& entries,
                                                const std::vector<Sighting>& all) const;
  [[nodiscard]] bool is_tagged(const Set& set, const model::ListedInstance& seen) const;
  [[nodiscard]] bool is_ours(const Set& set, const model::ListedInstance& seen) const;
  /// The instance of a listed machine; unset: the journal does not have it.
  std::optional<model::InstanceId> take(Set& set, const Sighting& sighting, Now now);

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  CallGates& gates_;
  PlanState& plan_;
  Recorder& recorder_;
  const SetAside& set_aside_;
  const std::vector<std::string>& take_over_sets_;
  Adoptions& adoptions_;
  Duplicates& duplicates_;
  TagRepair& tags_;
  InstanceSteps& steps_;
  Interruptions& interruptions_;
};

}  // namespace hostler::dispatch
