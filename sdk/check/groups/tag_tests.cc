// Of group H: tags of machines.
#include <algorithm>

#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/machines.h"
#include "sdk/check/host/relay.h"
#include "sdk/check/host/waiting.h"

namespace hostler::check {
namespace {

using model::CloudErrorClass;
using model::ListedInstance;

std::vector<std::pair<std::string, std::string>> tags_in_list(Session& session,
                                                              const std::string& id) {
  (void)Relay::get().take_tags();
  (void)session.list();
  for (auto& one : Relay::get().take_tags())
    if (one.id == id) return std::move(one.tags);
  return {};
}

bool has_tag(const std::vector<std::pair<std::string, std::string>>& tags, const std::string& key,
             const std::string& value) {
  return std::find(tags.begin(), tags.end(), std::pair(key, value)) != tags.end();
}

void keep_tags(Context& c, Session& session, const ListedInstance& made) {
  const auto wanted = session.request(made.idempotency_key).tags;
  for (const auto& [key, value] : wanted)
    if (!is_shown(c, session, [&, k = key, v = value] {
          return has_tag(tags_in_list(session, made.id), k, v);
        }))
      return c.findings.fail("R63", "list",
                             "does not show the tag " + key + " that the machine was made with");
}

void set_new_tags(Context& c, Session& session, const ListedInstance& made) {
  const model::Tags wanted{
      {"Colour", "dark red"}, {"site/A.b:c-1", "\u00e4\u00f6\u20ac"}, {"empty", ""}};
  for (const auto& [key, value] : wanted) {
    const auto set = session.set_tags({.id = made.id, .set = {{key, value}}});
    if (!set && set.error().cls == CloudErrorClass::kUnsupported && c.settings.cannot_set_tags)
      return c.findings.skip("a quirk: tags cannot be changed");
    if (!set && set.error().cls == CloudErrorClass::kInvalid) {
      c.findings.note("set_tags refuses '" + key + "': " + set.error().message);
      continue;
    }
    if (!set) return c.findings.fail("R23", "set_tags", "of '" + key + "': " + set.error().message);
    if (!is_shown(c, session, [&, k = key, v = value] {
          return has_tag(tags_in_list(session, made.id), k, v);
        }))
      return c.findings.fail("R33", "set_tags",
                             "returned OK, and the list does not show '" + key + "' as it was set");
  }
  if (!has_tag(tags_in_list(session, made.id), "hostler-key", made.idempotency_key))
    c.findings.fail("R33", "set_tags", "has removed another tag");
  const auto nobody = session.set_tags({.id = Session::kNobody, .set = {{"a", "b"}}});
  if (nobody)
    c.findings.fail("R23", "set_tags", "of a machine that is not there is OK, not NOT_FOUND");
}

}  // namespace

void add_tag_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"cloud.tags", 'H', 2, kMachines, "it has the tags that it was made with",
                &on_open_set<on_machine<keep_tags>>});
  to.push_back({"cloud.set_tags", 'H', 2, kMachines, "tags that are set are listed as they are",
                &on_open_set<on_machine<set_new_tags>>});
}

}  // namespace hostler::check
