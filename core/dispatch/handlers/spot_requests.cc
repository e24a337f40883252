#include "core/dispatch/handlers/spot_requests.h"

#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace hostler::dispatch {

namespace {

/// It is more than a request. The states of a request that is fulfilled, cancelled or failed are
/// not always known.
bool is_surely_machine(const model::ListedInstance& seen) {
  using enum model::CloudState;
  if (seen.state == kRequested || seen.state == kGone) return false;
  return seen.state == kRunning || seen.state == kStopping || seen.state == kStopped ||
         seen.state == kSuspended || !seen.address.empty();
}

}  // namespace

std::size_t drop_false_requests(std::vector<LastList::Entry>& entries) {
  std::unordered_map<std::string_view, bool> is_machine;  // By a request_id.
  for (const auto& one : entries)
    if (const auto& of = one.seen->request_id; !of.empty() && of != one.seen->id)
      is_machine.emplace(of, false);
  if (is_machine.empty()) return 0;
  for (const auto& one : entries) {
    if (const auto of = is_machine.find(one.seen->id); of != is_machine.end())
      of->second |= is_surely_machine(*one.seen);
  }
  std::vector<LastList::Entry*> wrong;
  for (auto& one : entries)
    if (const auto of = is_machine.find(one.seen->request_id); of != is_machine.end() && of->second)
      wrong.push_back(&one);
  for (auto* one : wrong) {
    auto seen = std::make_shared<model::ListedInstance>(*one->seen);
    seen->request_id.clear();
    one->seen = std::move(seen);
    if (const auto settled = std::exchange(one->settled, nullptr)) settled->in_list = 0;
  }
  return wrong.size();
}

}  // namespace hostler::dispatch
