#include "sdk/check/groups/live.h"

#include <utility>

#include "core/base/units.h"
#include "sdk/check/groups/machines.h"

namespace hostler::check {
namespace {

constexpr Duration kGoneMax = std::chrono::minutes(5);

}  // namespace

std::vector<model::ListedInstance> Live::ours() {
  auto listed = session.list({.tag_filter = {{"hostler-set", Session::kSetId}}, .ids = {}});
  if (!listed) return {};
  std::erase_if(*listed, [](const auto& one) { return one.state == model::CloudState::kGone; });
  return *std::move(listed);
}

std::optional<model::ListedInstance> Live::find(const std::string& key) {
  for (auto& one : ours())
    if (one.idempotency_key == key) return std::move(one);
  return std::nullopt;
}

std::optional<model::ListedInstance> Live::make(const model::CreateRequest& request) {
  auto made = session.create(request);
  if (made) return *std::move(made);
  context.findings.fail("R23", "create", why_none_is_made(context, made.error()));
  if (const auto hidden = find(request.idempotency_key)) {
    context.findings.fail("R24", "create", "has failed, and the machine " + hidden->id + " exists");
    (void)session.destroy(hidden->id);
  }
  return std::nullopt;
}

void Live::destroy(const model::ListedInstance& machine) {
  const auto gone = session.destroy(machine);
  if (!gone) return context.findings.fail("R23", "destroy", gone.error().message);
  const bool is_gone = wait(kGoneMax, [&] {
    const auto seen = find(machine.idempotency_key);
    return !seen || seen->state == model::CloudState::kTerminating;
  });
  if (!is_gone)
    context.findings.fail("R33", "list",
                          "still shows " + machine.id + " after " + format_duration(kGoneMax));
}

}  // namespace hostler::check
