#include "sdk/check/groups/live.h"

#include <algorithm>
#include <utility>

#include "core/base/units.h"
#include "sdk/check/groups/machines.h"

namespace hostler::check {
namespace {

constexpr Duration kGoneMax = std::chrono::minutes(5);

}  // namespace

std::optional<std::vector<model::ListedInstance>> Live::ours() {
  auto listed = session.list({.tag_filter = {{"hostler-set", Session::kSetId}}, .ids = {}});
  if (!listed) return std::nullopt;
  std::erase_if(*listed, [](const auto& one) { return one.state == model::CloudState::kGone; });
  return *std::move(listed);
}

std::optional<model::ListedInstance> Live::find(const std::string& key) {
  auto all = ours();
  if (!all) return std::nullopt;
  const auto found = std::ranges::find(*all, key, &model::ListedInstance::idempotency_key);
  return found == all->end() ? std::nullopt : std::optional(std::move(*found));
}

std::optional<model::ListedInstance> Live::make(const model::CreateRequest& request) {
  auto made = session.create(request);
  if (made) return *std::move(made);
  report_no_machine(context, made.error());
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
    const auto all = ours();
    return all && std::ranges::none_of(*all, [&](const model::ListedInstance& one) {
             return one.idempotency_key == machine.idempotency_key &&
                    one.state != model::CloudState::kTerminating;
           });
  });
  if (!is_gone)
    context.findings.fail(
        "R33", "list",
        "still shows " + machine.id + ", or fails, after " + format_duration(kGoneMax));
}

}  // namespace hostler::check
