#pragma once

#include <memory>
#include <optional>

#include "core/dispatch/handlers/absences.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/ended_instances.h"
#include "core/dispatch/state/lost_time.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/pool_bounds.h"

namespace hostler::dispatch {

/// Makes hosts of listed machines that the journal does not have: in slices, if there are many, and
/// not before an admin believes the list, if there are far more than the set's pools may have.
class Adoptions {
 public:
  Adoptions(const model::SitePolicy& policy, const AdoptionLimits& limits, Sets& sets, Hosts& hosts,
            const EndedInstances& ended, const LostTime& lost_time, const Menu& menu,
            const PoolBounds& bounds, gates::Governor& governor, PlanState& plan,
            Recorder& recorder, Absences& absences, InstanceSteps& steps)
      : policy_(policy),
        limits_(limits),
        sets_(sets),
        hosts_(hosts),
        ended_(ended),
        lost_time_(lost_time),
        menu_(menu),
        bounds_(bounds),
        governor_(governor),
        plan_(plan),
        recorder_(recorder),
        absences_(absences),
        steps_(steps) {}

  /// The listed machine, if it can be adopted; unset: no pool uses the set.
  [[nodiscard]] std::optional<Stranger> stranger(
      std::uint32_t set, std::shared_ptr<const model::ListedInstance> seen) const;
  [[nodiscard]] const AdoptionLimits& limits() const { return limits_; }
  /// A list of the set with these strangers is doubted.
  [[nodiscard]] bool doubts(std::uint32_t set, std::span<const Stranger> strangers, Now now) const;
  /// The strangers of the list count for ceilings from now on, and may be doubted.
  void begin(std::uint32_t set, StrangeList list, Now now);
  /// Adopts the first of them. After the last one, absences are judged. `shown`: as StrangeList has
  /// it.
  void adopt_first(std::uint32_t set, std::vector<model::InstanceId> shown, Now now);
  /// Adopts the next slice, if one is due.
  void go_on(std::uint32_t set, Now now);
  /// An admin says that the set's last list is right.
  void on(const BelieveList& event, Now now);

 private:
  [[nodiscard]] std::optional<std::uint32_t> pool_of(const Set& set,
                                                     const model::ListedInstance& seen) const;
  /// Far more than the set's pools may have.
  [[nodiscard]] bool are_many(std::uint32_t set, std::size_t strangers) const;
  /// The list is doubted, or the one before was. `before`: of that, if it was doubted.
  void review(Set& set, const StrangeList* before, Now now);
  /// One record for all: the log does not tell of each.
  void announce(Set& set, const char* actor, const std::string& why, Now now);
  void adopt_slice(std::uint32_t set, Now now);
  /// Its secrets are lost, so without a proof by the driver it gets no work, and is destroyed at
  /// its boot deadline. One that was destroyed before is destroyed again at once; one that may have
  /// work of a lost time is kept.
  model::InstanceId adopt(std::uint32_t set, const Stranger& stranger, Now now);
  /// Destroys the adopted instance, which was destroyed as `was` before.
  void end_again(model::InstanceId id, model::InstanceId was, Now now);
  /// Those that are left do not count any more.
  void uncount(std::uint32_t set);

  const model::SitePolicy& policy_;
  const AdoptionLimits& limits_;
  Sets& sets_;
  Hosts& hosts_;
  const EndedInstances& ended_;
  const LostTime& lost_time_;
  const Menu& menu_;
  const PoolBounds& bounds_;
  gates::Governor& governor_;
  PlanState& plan_;
  Recorder& recorder_;
  Absences& absences_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
