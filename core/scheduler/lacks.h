#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/gpus.h"
#include "core/model/resources.h"
#include "core/scheduler/snapshot.h"

/// What hosts lack for an item, as texts for people. Constraints are not looked at, but for the
/// wish for gpus.
namespace hostler::scheduler {

/// Each resource that a new host of the offering has too little of: "2 of 8 vcpus", "kind a100: has
/// 8 t4", "2 gpus of one kind: has 1 a100 and 1 t4". Empty: the item fits.
[[nodiscard]] std::vector<std::string> all_lacks(const model::Resources& needs,
                                                 const model::GpuWish& wish,
                                                 const Offering& offering);
/// The note of the offering, after what it lacks: ", which is ..."; empty: it is not about that.
[[nodiscard]] std::string note_for(const model::Resources& needs, const model::GpuWish& wish,
                                   const Offering& offering);
/// The first of all_lacks(), with the note; empty: the item fits.
[[nodiscard]] std::string lacks(const model::Resources& needs, const model::GpuWish& wish,
                                const Offering& offering);
/// How much the offering lacks: the sum of the missing shares of all resources.
[[nodiscard]] double distance(const model::Resources& needs, const model::GpuWish& wish,
                              const Offering& offering);

/// Why no group of a host's free cards is enough for an item, which needs no more than there are
/// together: "its 2 free cards are of different kinds", "1 of 2 cards of kind a100 free".
[[nodiscard]] std::string lacks_cards(const model::GpuGroups& free, const model::GpuWish& wish,
                                      std::int32_t count);

}  // namespace hostler::scheduler
