// Group D, second part: each function once. The host judges what comes of it. Group C: the same
// with a host of later versions.
#include <map>

#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/machines.h"
#include "sdk/check/host/harmless_calls.h"

namespace hostler::check {
namespace {

/// The call of the name, with a machine that is not there.
template <int number>
void make_call(Context& c, const Library& library) {
  const auto& call = harmless_calls()[number];
  try {
    if (!is_there(call)) return c.findings.skip(std::string("it has no ") + call.extension);
  } catch (...) {
    return c.findings.fail("R45", "get_extension", "an exception left the function");
  }
  Session session(c, library);
  if (session.open_or_skip()) (void)call.make(session, Session::kNobody);
}

void create_and_destroy(Context& c, Session& session) {
  std::optional<model::ListedInstance> made;
  if (c.settings.has_cloud)
    made = make_machine(c, session);
  else if (auto any = session.create(session.request()))  // without a config none may be possible
    made = *std::move(any);
  (void)session.list();
  if (!made) return;
  if (const auto gone = session.destroy(*made); !gone && !c.findings.has_failed())
    c.findings.fail("R23", "destroy", gone.error().message);
}

/// What is not there is gone: OK, not NOT_FOUND.
void destroy_nobody(Context& c, Session& session) {
  const auto gone = session.destroy(Session::kNobody);
  if (gone || c.findings.has_failed()) return;
  const auto cls = gone.error().cls;
  if (cls == model::CloudErrorClass::kInvalid)
    c.findings.warn("R23", "destroy", "an id that nobody has is INVALID: " + gone.error().message);
  else
    c.findings.fail("R23", "destroy", "of nobody is not OK: " + gone.error().message);
}

/// The host asks once, and keeps the answer as long as the set is open.
void ask_groups(Context& c, Session& session) {
  if (!Relay::get().has(HOSTLER_EXT_QUOTA_GROUP))
    return c.findings.skip("it has no " HOSTLER_EXT_QUOTA_GROUP);
  constexpr int kRounds = 3;
  using model::Market;
  std::map<std::pair<std::string, Market>, std::string> groups;
  auto type = c.settings.type;
  for (int question = 0; question < 4 * kRounds && !c.findings.has_failed(); ++question) {
    type.provider_type = question % 4 < 2 ? c.settings.type.provider_type : "kit-no-such-type";
    type.market = question % 2 == 0 ? Market::kOnDemand : Market::kSpot;
    const auto got = session.call<std::string>(
        "group", [&](auto& set, Duration t, auto done) { set.quota_group(type, t, done); });
    if (!got) continue;
    const auto [first, is_first] = groups.try_emplace({type.provider_type, type.market}, *got);
    if (!is_first && first->second != *got)
      c.findings.fail("R61", "group",
                      "has another answer for the same type and market than before");
  }
}

/// Every function with structs that are longer than the driver knows, of a host of minor 99.
void meet_later_host(Context& c, const Library& library) {
  Relay::get().be_later_host();
  Session session(c, library);
  if (!session.open_or_skip()) return;
  for (const auto& call : harmless_calls())
    if (is_there(call)) (void)call.make(session, Session::kNobody);
  (void)session.destroy(Session::kNobody);
  if (c.settings.is_test_cloud) (void)session.create(session.request());
}

}  // namespace

void add_call_tests(std::vector<Test>& to) {
  using enum Needs;
  constexpr const char* kPromise = "the call ends as the header says";
  to.push_back({"call.create", 'D', 1, kMachines, "create, list and destroy end as the header says",
                &on_open_set<create_and_destroy>});
  to.push_back({"call.destroy", 'D', 1, kNothing, "to destroy what is not there is OK",
                &on_open_set<destroy_nobody>});
  to.push_back({"call.set_info", 'D', 1, kNothing, kPromise, &on_library<make_call<0>>});
  to.push_back({"call.list", 'D', 1, kNothing, kPromise, &on_library<make_call<1>>});
  to.push_back({"call.set_tags", 'D', 1, kNothing, kPromise, &on_library<make_call<2>>});
  to.push_back({"call.verify", 'D', 1, kNothing, kPromise, &on_library<make_call<3>>});
  to.push_back({"call.history", 'D', 1, kNothing, kPromise, &on_library<make_call<4>>});
  to.push_back({"call.group", 'D', 1, kNothing, "a type and market keeps its quota group",
                &on_open_set<ask_groups>});
  to.push_back({"call.power", 'D', 1, kNothing, kPromise, &on_library<make_call<6>>});
  to.push_back({"call.offerings", 'D', 1, kNothing, kPromise, &on_library<make_call<7>>});
  to.push_back({"call.watch", 'D', 1, kNothing, kPromise, &on_library<make_call<8>>});
  to.push_back({"call.console", 'D', 1, kNothing, kPromise, &on_library<make_call<9>>});
  to.push_back({"call.leftovers", 'D', 1, kNothing, kPromise, &on_library<make_call<10>>});
  to.push_back({"call.images", 'D', 1, kNothing, kPromise, &on_library<make_call<11>>});
}

void add_later_host_tests(std::vector<Test>& to) {
  to.push_back({"host.later", 'C', 1, Needs::kNothing,
                "the driver works with a newer host, whose structs are longer",
                &on_library<meet_later_host>});
}

}  // namespace hostler::check
