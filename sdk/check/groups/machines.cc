#include "sdk/check/groups/machines.h"

#include <algorithm>

#include "core/base/units.h"
#include "sdk/check/host/refusal.h"
#include "sdk/check/host/waiting.h"

namespace hostler::check {
namespace {

using model::CloudErrorClass;

/// Whether the cloud may have refused what the check file asks for.
bool may_be_of_check_file(CloudErrorClass cls) {
  return cls == CloudErrorClass::kInvalid || cls == CloudErrorClass::kUnsupported ||
         cls == CloudErrorClass::kNotFound;
}

}  // namespace

bool has_key(const std::vector<model::ListedInstance>& machines, const std::string& key) {
  return std::any_of(machines.begin(), machines.end(), [&](const auto& one) {
    return one.idempotency_key == key && one.state != model::CloudState::kGone;
  });
}

void report_no_machine(Context& c, const model::CloudError& error, const char* rule,
                       const std::string& what) {
  if (c.findings.has_failed()) return;
  if (is_refusal(error.cls)) return report_refusal(c, "create", error);
  std::string text = what + ": " + error.message;
  if (!c.settings.site && may_be_of_check_file(error.cls))
    text +=
        "; if the status is right, set `type`, `image_id` and `zone` in the check file to what the "
        "cloud has (now provider_type " +
        c.settings.type.provider_type + ")";
  c.findings.fail(rule, "create", text);
}

std::optional<model::ListedInstance> make_machine(Context& c, Session& session) {
  auto made = session.create(session.request());
  if (made) return *std::move(made);
  report_no_machine(c, made.error());
  return std::nullopt;
}

std::optional<model::ListedInstance> make_listed_machine(Context& c, Session& session) {
  auto made = make_machine(c, session);
  if (!made || !expect_listed(c, session, *made)) return std::nullopt;
  return made;
}

bool expect_listed(Context& c, Session& session, const model::ListedInstance& made) {
  if (is_shown(c, session, [&] { return !session.of_key(made.idempotency_key).empty(); }))
    return true;
  if (!c.stops)
    c.findings.fail(
        "R33", "list",
        "does not show a machine that was made, after " + format_duration(session.consistency()));
  return false;
}

bool expect_gone(Context& c, Session& session, const model::ListedInstance& made) {
  const auto is_gone = [&] {
    const auto seen = session.of_key(made.idempotency_key);
    return std::all_of(seen.begin(), seen.end(), [](const auto& one) {
      return one.state == model::CloudState::kTerminating;
    });
  };
  if (is_shown(c, session, is_gone)) return true;
  if (!c.stops)
    c.findings.fail("R33", "list", "shows a machine that was destroyed as if it were there");
  return false;
}

bool is_temporary(CloudErrorClass cls) {
  return cls == CloudErrorClass::kTransient || cls == CloudErrorClass::kTimeout;
}

}  // namespace hostler::check
