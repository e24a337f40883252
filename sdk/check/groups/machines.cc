#include "sdk/check/groups/machines.h"

#include <algorithm>

#include "core/base/units.h"
#include "sdk/check/host/waiting.h"

namespace hostler::check {
namespace {

using model::CloudErrorClass;

/// Whether the cloud may have refused what the check file asks for.
bool may_be_of_check_file(CloudErrorClass cls) {
  switch (cls) {
    case CloudErrorClass::kInvalid:
    case CloudErrorClass::kUnsupported:
    case CloudErrorClass::kNotFound:
    case CloudErrorClass::kCapacity:
    case CloudErrorClass::kQuota:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool has_key(const std::vector<model::ListedInstance>& machines, const std::string& key) {
  return std::any_of(machines.begin(), machines.end(), [&](const auto& one) {
    return one.idempotency_key == key && one.state != model::CloudState::kGone;
  });
}

std::string why_none_is_made(const Context& c, const model::CloudError& error) {
  std::string out = "no machine is made: " + error.message;
  if (may_be_of_check_file(error.cls))
    out +=
        "; if the status is right, set `type`, `image_id` and `zone` in the check file to what the "
        "cloud has (now provider_type " +
        c.settings.type.provider_type + ")";
  return out;
}

std::optional<model::ListedInstance> make_machine(Context& c, Session& session) {
  auto made = session.create(session.request());
  if (made) return *std::move(made);
  if (!c.findings.has_failed()) c.findings.fail("R23", "create", why_none_is_made(c, made.error()));
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

bool is_temporary(CloudErrorClass cls) {
  return cls == CloudErrorClass::kTransient || cls == CloudErrorClass::kTimeout;
}

}  // namespace hostler::check
