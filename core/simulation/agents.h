#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/push.h"

namespace hostler::simulation {

/// The agents of an outside scheduler, one on each host that is up, and the slots that its tasks
/// use there.
class Agents {
 public:
  /// `widest`: the most slots that a type of the pool has. `aux_max`: tasks without slots that one
  /// agent runs.
  Agents(std::int32_t widest, std::int32_t aux_max) : widest_(widest), aux_max_(aux_max) {}

  /// An agent connects. Does nothing if it is known.
  void add(model::InstanceId host, std::string name, std::int32_t slots);
  /// Its host has gone, and so has all that ran there.
  void remove(model::InstanceId host) { agents_.erase(host); }
  /// Nothing is placed on agents of these names.
  void avoid(std::vector<std::string> names) { avoided_ = {names.begin(), names.end()}; }

  /// Uses the agent with the fewest free slots that has room for a task of so many slots, of equal
  /// ones the oldest; for a task that is wider than all types, several agents as a whole. Returns
  /// their hosts; empty: there is no room.
  [[nodiscard]] std::vector<model::InstanceId> place(std::int32_t slots);
  /// A task of so many slots has ended there. Hosts that have gone are left out.
  void release(std::int32_t slots, const std::vector<model::InstanceId>& hosts);

  /// Keeps room for placeholders of so many slots, which place() does not see: on agents with the
  /// fewest free slots that have room. Forgets those of before. Returns those that have no room.
  [[nodiscard]] std::vector<std::int32_t> keep_spare(std::vector<std::int32_t> slots);

  /// As a push says them: an agent with a placeholder is not idle.
  [[nodiscard]] std::vector<model::PushedAgent> listed() const;

 private:
  struct Agent {
    std::string name;
    std::int32_t slots = 0, used = 0;
    std::int32_t aux = 0;    ///< Tasks without slots.
    std::int32_t spare = 0;  ///< Slots of placeholders.
    [[nodiscard]] std::int32_t free() const { return slots - used - spare; }
    [[nodiscard]] bool is_idle() const { return used == 0 && aux == 0; }
  };
  [[nodiscard]] bool takes(const Agent& agent, std::int32_t slots) const;
  /// The agent that has room and the fewest free slots, or null.
  [[nodiscard]] std::pair<const model::InstanceId, Agent>* best_for(std::int32_t slots);
  [[nodiscard]] std::vector<model::InstanceId> place_on_several(std::int32_t slots);

  const std::int32_t widest_, aux_max_;
  std::map<model::InstanceId, Agent> agents_;  ///< The oldest host first.
  std::set<std::string> avoided_;
};

}  // namespace hostler::simulation
