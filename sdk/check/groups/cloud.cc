#include "sdk/check/groups/cloud.h"

#include <utility>

namespace hostler::check {

std::optional<model::ListedInstance> Cloud::make() {
  auto made = session.create(session.request());
  if (made) return *std::move(made);
  context.findings.fail("R23", "create", "no machine is made: " + made.error().message);
  return std::nullopt;
}

std::vector<model::ListedInstance> Cloud::of_key(const std::string& key) {
  auto listed = session.list().value_or(std::vector<model::ListedInstance>());
  std::erase_if(listed, [&](const model::ListedInstance& one) {
    return one.idempotency_key != key || one.state == model::CloudState::kGone;
  });
  return listed;
}

}  // namespace hostler::check
