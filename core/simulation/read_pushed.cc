#include "core/simulation/read_pushed.h"

#include <algorithm>

#include "core/model/push.h"
#include "core/simulation/read_times.h"

namespace hostler::simulation {
namespace {

constexpr std::size_t kSchedulersMax = 100, kTaskKindsMax = 1000, kGroupsMax = 1000,
                      kSpareMax = 100;

void read_tasks(json::Object& o, Duration lasts, Arrivals& out) {
  out.user.clear();
  out.shape.needs = {.vcpus = 0, .gpus = 0, .ram = 0, .scratch = 0, .slots = 1};
  o.may("slots").integer(out.shape.needs.slots, 0, model::kSlotsMax);
  o.may("group").text(out.user,
                      {.bytes_max = model::kPushedNameMax, .bytes_min = 1, .one_line = true});
  read_spread(o.may("runs"), out.runs);
  read_times(o, lasts, out);
}

void read_scheduler(json::Object& o, Duration lasts, PushedLoad& out) {
  o.need("pool").name(out.pool);
  o.may("interval").duration(out.interval, 100ms, 1h);
  o.may("group_max").members(kGroupsMax, [&](std::string_view group, const json::Field& slots) {
    slots.integer(out.group_max[std::string(group)], 0, INT64_MAX);
  });
  o.may("spare").each(kSpareMax, [&](const json::Field& one) {
    one.integer(out.spare.emplace_back(), 1, model::kSlotsMax);
  });
  o.need("tasks").each(kTaskKindsMax, [&](const json::Field& one) {
    one.object([&](json::Object& tasks) { read_tasks(tasks, lasts, out.tasks.emplace_back()); });
  });
}

}  // namespace

void read_pushed(const json::Field& field, Duration lasts, std::vector<PushedLoad>& out) {
  field.each(kSchedulersMax, [&](const json::Field& one) {
    PushedLoad scheduler;
    if (!one.object([&](json::Object& o) { read_scheduler(o, lasts, scheduler); })) return;
    if (std::ranges::find(out, scheduler.pool, &PushedLoad::pool) != out.end())
      one.problem("found a second scheduler of pool \"" + scheduler.pool + "\", allowed: one");
    out.push_back(std::move(scheduler));
  });
}

}  // namespace hostler::simulation
