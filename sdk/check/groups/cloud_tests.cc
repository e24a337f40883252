// Group H: what a cloud does, seen through the driver. Every machine is destroyed.
#include <algorithm>

#include "core/base/units.h"
#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/machines.h"
#include "sdk/check/groups/power.h"
#include "sdk/check/host/waiting.h"

namespace hostler::check {
namespace {

using model::CloudErrorClass;
using model::CloudState;
using model::ListedInstance;

constexpr Duration kPowerMax = std::chrono::seconds(30);  // for a machine to boot or to shut down

void show_in_list(Context& c, Session& session, const ListedInstance& made) {
  if (!expect_listed(c, session, made)) return;
  const auto seen = session.of_key(made.idempotency_key);
  if (seen.empty())
    return c.findings.fail("R33", "list", "shows a machine that was made, and then no more");
  const auto& one = seen.front();
  if (one.id != made.id && one.request_id != made.id)
    c.findings.fail("R32", "list", "shows the machine with another id");
  if (one.set_id != Session::kSetId)
    c.findings.fail("R63", "list", "shows it without its tag hostler-set");
  if (one.owner != "driver-check")
    c.findings.fail("R63", "list", "shows it without its tag hostler-owner");
}

void make_one_for_each_key(Context& c, Session& session) {
  const auto request = session.request();
  const auto first = session.create(request), second = session.create(request);
  if (!first || !second)
    return report_no_machine(c, (first ? second : first).error(), "R32", "the same request again");
  if (first->id != second->id)
    c.findings.fail("R32", "create",
                    "made two machines for one key: " + first->id + " and " + second->id);
  if (!is_shown(c, session, [&] { return !session.of_key(request.idempotency_key).empty(); }))
    return;
  if (session.of_key(request.idempotency_key).size() > 1)
    c.findings.fail("R32", "list", "shows two machines of one key");
}

/// A second set of the same account, as after a restart of hostlerd.
void find_from_another_set(Context& c, Session& session, const ListedInstance& made) {
  Session other(c, session.library());
  if (!other.open_or_skip()) return;
  const bool found =
      is_shown(c, session, [&] { return !other.of_key(made.idempotency_key).empty(); });
  if (!found)
    return c.findings.fail("R32", "list", "of another set on the same account does not show it");
  const auto again = other.create(other.request(made.idempotency_key));
  if (again && again->id != made.id)
    c.findings.fail("R32", "create", "another set makes a second machine for the key");
}

void filter_lists(Context& c, Session& session) {
  if (session.machines_max() < 2)
    return c.findings.skip_without_room("it takes two machines: see `quota` and --budget");
  const auto first = make_machine(c, session), second = make_machine(c, session);
  if (!first || !second) return;
  if (!expect_listed(c, session, *first) || !expect_listed(c, session, *second)) return;
  const auto by_tags = session.list(
      {.tag_filter = {{"hostler-set", Session::kSetId}, {"hostler-key", first->idempotency_key}},
       .ids = {}});
  if (!by_tags || by_tags->size() != 1 || by_tags->front().id != first->id)
    c.findings.fail("R33", "list", "by two tags does not show exactly the machine that has both");
  const auto none = session.list({.tag_filter = {{"hostler-key", "kit-no-such-key"}}, .ids = {}});
  if (none && !none->empty()) c.findings.fail("R33", "list", "by a tag that nobody has shows some");
  const auto by_id = session.list({.tag_filter = {}, .ids = {first->id, Session::kNobody}});
  if (!by_id && by_id.error().cls == CloudErrorClass::kUnsupported) {
    if (!c.settings.cannot_list_by_ids)
      c.findings.warn("R33", "list", "by ids is UNSUPPORTED: say it as the quirk no_list_by_ids");
  } else if (!by_id || by_id->size() != 1 || by_id->front().id != first->id) {
    c.findings.fail("R33", "list", "by ids does not show exactly the one of them that is there");
  }
}

void destroy_machines(Context& c, Session& session, const ListedInstance& made) {
  const model::DestroyRequest foreign{
      .id = made.id, .expected_set_id = "another-set", .idempotency_key = made.idempotency_key};
  if (const auto refused = session.destroy(foreign);
      refused || refused.error().cls != CloudErrorClass::kConflict)
    c.findings.fail("R23", "destroy", "of a machine of another set is not CONFLICT");
  for (const char* time : {"", "a second time "})
    if (const auto gone = session.destroy(made); !gone)
      return c.findings.fail("R23", "destroy",
                             std::string(time) + "is not OK: " + gone.error().message);
  (void)expect_gone(c, session, made);
}

void remember_gone_keys(Context& c, Session& session, const ListedInstance& made) {
  (void)session.destroy(made.id);
  const auto again = session.create(session.request(made.idempotency_key));
  if (!again || again->state == CloudState::kGone || again->state == CloudState::kTerminating)
    return;
  if (c.settings.forgets_keys) return c.findings.note("a quirk: it forgets keys of gone machines");
  c.findings.fail("R32", "create", "makes another machine for the key of one that is gone");
}

void switch_machine(Context& c, Session& session) {
  if (!session.info().stop) return c.findings.skip("it does not claim HOSTLER_CAP_STOP");
  const auto made = make_machine(c, session);
  if (!made) return;
  const auto reaches = [&](CloudState state) {
    const auto has_state = [&] {
      const auto seen = session.of_key(made->idempotency_key);
      return !seen.empty() && seen.front().state == state;
    };
    return is_shown(c, session, has_state, kPowerMax);
  };
  if (!reaches(CloudState::kRunning))
    return c.findings.skip("the machine does not run within the time of a list");
  switch_off_and_on(c, session, made->id, reaches);
}

}  // namespace

void add_cloud_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"cloud.list", 'H', 2, kMachines, "a machine that was made is listed",
                &on_open_set<on_machine<show_in_list>>});
  to.push_back({"cloud.key", 'H', 2, kMachines, "one key makes one machine",
                &on_open_set<make_one_for_each_key>});
  to.push_back({"cloud.restart", 'H', 2, kMachines, "another set on the account finds it",
                &on_open_set<on_machine<find_from_another_set>>});
  to.push_back({"cloud.filters", 'H', 2, kMachines, "lists by tags and ids are exact",
                &on_open_set<filter_lists>});
  to.push_back({"cloud.destroy", 'H', 2, kMachines,
                "a machine can be destroyed, twice, by its set only",
                &on_open_set<on_machine<destroy_machines>>});
  to.push_back({"cloud.gone_key", 'H', 2, kMachines,
                "a create with the key of a machine that is gone makes no new machine",
                &on_open_set<on_machine<remember_gone_keys>>});
  to.push_back({"cloud.power", 'H', 2, kMachines, "a machine can be switched off and on",
                &on_open_set<switch_machine>});
  add_tag_tests(to);
  add_leftover_tests(to);
}

}  // namespace hostler::check
