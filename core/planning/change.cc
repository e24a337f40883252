#include "core/planning/change.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/scheduler/shutdown_rule.h"

namespace hostler::planning {
namespace {

using scheduler::Offering;

constexpr std::uint32_t kNone = UINT32_MAX;

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

std::uint32_t index_of(const std::vector<model::InstanceType>& types, const std::string& name) {
  const auto found = std::ranges::find(types, name, &model::InstanceType::name);
  return found == types.end() ? kNone : static_cast<std::uint32_t>(found - types.begin());
}

/// The pool still has its set and its type. Hosts in a zone that has gone stay: other zones are
/// there.
bool stays(const Offering& o, const model::SitePolicy& policy) {
  const auto& pool = policy.pools[o.pool];
  return has(pool.sets, policy.sets[o.set].name) &&
         (pool.selector || has(pool.types, policy.types[o.type].name));
}

/// `out` has the new policy. Returns the new index of each offering.
std::vector<std::uint32_t> move_offerings(const Question& now, Question& out) {
  std::vector<std::uint32_t> moved(now.snapshot.offerings.size(), kNone);
  out.snapshot.offerings.clear();
  for (std::size_t i = 0; i < moved.size(); ++i) {
    Offering o = now.snapshot.offerings[i];
    const auto& type = now.policy.types[o.type];
    const bool at_menu_price = o.price_per_hour == type.price_per_hour;
    o.type = index_of(out.policy.types, type.name);
    if (o.type == kNone || !stays(o, out.policy)) continue;
    if (at_menu_price) o.price_per_hour = out.policy.types[o.type].price_per_hour;
    moved[i] = static_cast<std::uint32_t>(out.snapshot.offerings.size());
    out.snapshot.offerings.push_back(std::move(o));
  }
  return moved;
}

/// What expressions gave is not said of other expressions.
void forget_other_texts(const Question& now, const model::SitePolicy& fresh,
                        scheduler::BoundsByPool& bounds) {
  for (std::size_t p = 0; p < bounds.size(); ++p) {
    const bool is_same = p < now.policy.pools.size() && p < fresh.pools.size() &&
                         now.policy.pools[p].sizes.texts == fresh.pools[p].sizes.texts;
    if (!is_same)
      std::erase_if(bounds[p], [](const scheduler::Bound& bound) {
        return bound.source == scheduler::kExpressionSource;
      });
  }
}

/// All that plans would end, in one plan.
void lift_limits_of_destroys(scheduler::Snapshot& snapshot) {
  snapshot.site.destroys.reset();
  for (auto& room : snapshot.sets) room.destroys.reset();
  for (auto& room : snapshot.pools) room.destroys.reset();
}

}  // namespace

Question after_reload(const Question& now, const model::SitePolicy& fresh) {
  Question out = now;
  out.pushes.clear();  // The snapshot has what was made of them.
  out.policy = fresh;
  for (const auto& type : now.policy.types)
    if (!type.only_in.empty()) out.policy.types.push_back(type);
  const auto moved = move_offerings(now, out);
  for (auto& host : out.snapshot.hosts)
    if (host.offering < moved.size()) host.offering = moved[host.offering];
  out.snapshot.pools.resize(fresh.pools.size());
  forget_other_texts(now, fresh, out.snapshot.bounds);
  return out;
}

std::vector<scheduler::Shutdown> shutdowns_by(const Question& now, const model::SitePolicy& fresh) {
  Question before = now, after = after_reload(now, fresh);
  lift_limits_of_destroys(before.snapshot);
  lift_limits_of_destroys(after.snapshot);
  const scheduler::Plan old = make_plan(before.snapshot, before.policy);
  std::set<model::InstanceId> told;  // Those that go anyway, too.
  for (const auto& one : old.shutdowns) told.insert(one.host);
  for (const auto& one : old.drains) told.insert(one.host);
  for (const auto& one : old.closed) told.insert(one.host);
  std::vector<scheduler::Shutdown> out;
  scheduler::Plan plan = make_plan(after.snapshot, after.policy);
  for (auto& one : plan.shutdowns)
    if (told.insert(one.host).second) out.push_back(std::move(one));
  for (auto& one : plan.drains)
    if (told.insert(one.host).second)
      out.push_back({one.host, model::Reason::kDrained, "after its drain: " + one.reason});
  for (const auto& one : plan.closed)
    if (told.insert(one.host).second)
      out.push_back({one.host, scheduler::end_of(one.why), "when its jobs have ended"});
  return out;
}

}  // namespace hostler::planning
