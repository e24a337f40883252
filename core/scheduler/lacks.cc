#include "core/scheduler/lacks.h"

#include <algorithm>

#include "core/base/units.h"

namespace hostler::scheduler {
namespace {

using model::GpuGroup;
using model::GpuGroups;
using model::GpuWish;

/// "kind a100", "kind a100 with 40 GiB", "gpus with 40 GiB"
std::string text_of(const GpuWish& wish) {
  std::string out = wish.kind.empty() ? "gpus" : "kind " + wish.kind;
  return wish.memory > 0 ? out + " with " + format_size(wish.memory) : out;
}

/// " of kind a100 with 40 GiB"; empty for any.
std::string of_wish(const GpuWish& wish) {
  if (wish == GpuWish{}) return {};
  return wish.kind.empty() ? " with " + format_size(wish.memory) : " of " + text_of(wish);
}

/// "1 a100 and 1 t4", in the order of kinds; with the memory where the kind alone says too little.
std::string text_of(GpuGroups groups, const GpuWish& wish) {
  std::ranges::sort(groups);
  std::string out;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const GpuGroup& one = groups[g];
    const auto is_alike = [&](const GpuGroup& other) { return other.kind == one.kind; };
    const bool shows_memory = one.memory > 0 && (wish.memory > 0 || one.kind.empty() ||
                                                 std::ranges::count_if(groups, is_alike) > 1);
    if (g > 0) out += g + 1 == groups.size() ? " and " : "; ";
    out += std::to_string(one.count) + " " + (one.kind.empty() ? "gpus" : one.kind);
    if (shows_memory) out += " with " + format_size(one.memory);
  }
  return out;
}

/// The most cards that an item can have of one group.
std::int32_t usable(const GpuWish& wish, const Offering& offering) {
  if (offering.gpus.empty()) return wish == GpuWish{} ? offering.resources.gpus : 0;
  std::int32_t most = 0;
  for (const GpuGroup& group : offering.gpus)
    if (wish.meets(group)) most = std::max(most, group.count);
  return std::min(most, offering.resources.gpus);
}

std::string out_of(std::int32_t has, std::int32_t count) {
  return std::to_string(has) + " of " + std::to_string(count);
}

/// Of cards; empty: there are enough.
std::string lack_of_cards(std::int32_t count, const GpuWish& wish, const Offering& offering) {
  const std::int32_t all = offering.resources.gpus, most = usable(wish, offering);
  if (count <= most) return {};
  const bool is_any = wish == GpuWish{};
  if (all == 0 || (is_any && all < count)) return out_of(all, count) + " gpus";
  if (is_any)
    return std::to_string(count) + " gpus of one kind: has " + text_of(offering.gpus, wish);
  if (most > 0) return out_of(most, count) + " gpus" + of_wish(wish);
  if (offering.gpus.empty())
    return text_of(wish) + ": of its " + std::to_string(all) + " gpus nothing is said";
  return text_of(wish) + ": has " + text_of(offering.gpus, wish);
}

}  // namespace

std::vector<std::string> all_lacks(const model::Resources& needs, const GpuWish& wish,
                                   const Offering& offering) {
  const model::Resources& room = offering.resources;
  std::vector<std::string> out;
  if (needs.vcpus > room.vcpus)
    out.push_back(to_string(room.vcpus) + " of " + to_string(needs.vcpus) + " vcpus");
  if (std::string cards = lack_of_cards(needs.gpus, wish, offering); !cards.empty())
    out.push_back(std::move(cards));
  if (needs.ram > room.ram)
    out.push_back(format_size(room.ram) + " of " + format_size(needs.ram) + " ram");
  if (needs.scratch > room.scratch)
    out.push_back(format_size(room.scratch) + " of " + format_size(needs.scratch) + " scratch");
  if (needs.slots > room.slots) out.push_back(out_of(room.slots, needs.slots) + " slots");
  return out;
}

/// The note is of ram and scratch: it says nothing of a lack of vcpus or gpus.
std::string note_for(const model::Resources& needs, const GpuWish& wish, const Offering& offering) {
  const bool is_of_it =
      needs.vcpus <= offering.resources.vcpus && needs.gpus <= usable(wish, offering);
  return is_of_it && !offering.note.empty() ? ", " + offering.note : "";
}

std::string lacks(const model::Resources& needs, const GpuWish& wish, const Offering& offering) {
  const auto all = all_lacks(needs, wish, offering);
  return all.empty() ? "" : all.front() + note_for(needs, wish, offering);
}

double distance(const model::Resources& needs, const GpuWish& wish, const Offering& offering) {
  const auto share = [](auto want, auto have) {
    return want <= have ? 0.0 : static_cast<double>(want - have) / static_cast<double>(want);
  };
  const model::Resources& room = offering.resources;
  // Cards of another kind are nearer than none.
  const double cards =
      (share(needs.gpus, room.gpus) + share(needs.gpus, usable(wish, offering))) / 2;
  return share(needs.vcpus.thousandths(), room.vcpus.thousandths()) + cards +
         share(needs.ram, room.ram) + share(needs.scratch, room.scratch) +
         share(needs.slots, room.slots);
}

std::string lacks_cards(const GpuGroups& free, const GpuWish& wish, std::int32_t count) {
  std::int32_t there = 0;
  for (const GpuGroup& group : free)
    if (wish.meets(group)) there += group.count;
  if (there < count) return out_of(there, count) + " cards" + of_wish(wish) + " free";
  return "its " + std::to_string(there) + " free cards" + of_wish(wish) + " are of different kinds";
}

}  // namespace hostler::scheduler
