// Group H: things that outlive their machine, and the tags by which a set finds its own.
#include <algorithm>

#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/machines.h"

namespace hostler::check {
namespace {

using model::CloudState;
using model::Leftover;
using model::ListedInstance;
using plugin_host::DriverSet;
using Things = std::vector<Leftover>;

const model::Tags& tags_of_set() {
  static const model::Tags kTags{{model::tag::kSet, Session::kSetId},
                                 {model::tag::kOwner, "driver-check"}};
  return kTags;
}

/// Nothing: the list has failed, and so has the test.
std::optional<Things> list_things(Context& c, Session& session, const model::Tags& filter) {
  auto listed = session.call<Things>("leftovers list", [&](DriverSet& set, Duration t, auto done) {
    set.list_leftovers(filter, t, done);
  });
  if (listed) return *std::move(listed);
  if (!c.findings.has_failed())
    c.findings.fail("R33", "leftovers list", "fails: " + listed.error().message);
  return std::nullopt;
}

bool has_tags(const Leftover& thing, const model::Tags& tags) {
  return std::ranges::all_of(tags, [&](const auto& tag) {
    const auto found = thing.tags.find(tag.first);
    return found != thing.tags.end() && found->second == tag.second;
  });
}

bool belongs_to(const Leftover& thing, const ListedInstance& machine) {
  return thing.id == machine.id || thing.instance_id == machine.id;
}

/// "disk d-1 and 3 more"; empty: there are none that are so.
template <class Which>
std::string name_those(const Things& things, const Which& which) {
  const auto first = std::ranges::find_if(things, which);
  if (first == things.end()) return {};
  const auto more = std::ranges::count_if(things, which) - 1;
  return first->type + " " + first->id +
         (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

bool lives(Session& session, const ListedInstance& machine) {
  const auto seen = session.of_key(machine.idempotency_key);
  return std::ranges::any_of(seen, [](const ListedInstance& one) {
    return one.state != CloudState::kTerminating && one.state != CloudState::kFailed;
  });
}

/// Of this set only, and nothing that a living machine needs: hostlerd destroys what is left.
void expect_exact_list(Context& c, Session& session, const ListedInstance& machine) {
  const auto shown = list_things(c, session, tags_of_set());
  if (!shown) return;
  const auto others =
      name_those(*shown, [](const Leftover& one) { return !has_tags(one, tags_of_set()); });
  if (!others.empty())
    c.findings.fail("R33", "leftovers list",
                    "shows what lacks the tags that it was asked for: " + others);
  const auto used =
      name_those(*shown, [&](const Leftover& one) { return belongs_to(one, machine); });
  if (!used.empty() && lives(session, machine))
    c.findings.fail("R33", "leftovers list", "shows what belongs to a machine that lives: " + used);
}

/// What the machine has left behind can be found by the tags of its set.
void expect_tags(Context& c, Session& session, const ListedInstance& machine,
                 const Things& before) {
  const auto after = list_things(c, session, {});
  if (!after) return;
  const auto is_untagged = [&](const Leftover& one) {
    return !one.tags.contains(model::tag::kSet) &&
           std::ranges::none_of(
               before, [&](const auto& old) { return old.type == one.type && old.id == one.id; });
  };
  const auto ours = name_those(
      *after, [&](const Leftover& one) { return is_untagged(one) && belongs_to(one, machine); });
  const auto unknown = name_those(
      *after, [&](const Leftover& one) { return is_untagged(one) && one.instance_id.empty(); });
  if (!ours.empty())
    c.findings.fail("R63", "create",
                    "made a thing without the tags of its set, which is left: " + ours);
  if (!unknown.empty())
    c.findings.warn(
        "R63", "create",
        "a thing without the tag hostler-set has appeared meanwhile; if this driver has "
        "made it, no list by tags shows it: " +
            unknown);
}

void leave_things(Context& c, Session& session) {
  if (!session.info().has_leftovers) return c.findings.skip("it has no " HOSTLER_EXT_LEFTOVERS);
  const auto before = list_things(c, session, {});
  const auto machine = before ? make_listed_machine(c, session) : std::nullopt;
  if (!machine) return;
  expect_exact_list(c, session, *machine);
  (void)session.destroy(*machine);
  if (expect_gone(c, session, *machine)) expect_tags(c, session, *machine, *before);
}

}  // namespace

void add_leftover_tests(std::vector<Test>& to) {
  to.push_back({"cloud.leftovers", 'H', 2, Needs::kMachines,
                "leftovers are those of the set, and have its tags", &on_open_set<leave_things>});
}

}  // namespace hostler::check
