#include "core/dispatch/handlers/offering_events.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

constexpr Duration kFirstRetry = std::chrono::seconds(30);
constexpr Duration kGatePause = std::chrono::seconds(1);
constexpr std::size_t kTypesTold = 5;

scheduler::GateQuery query_of(const std::string& set) {
  return {.set = set, .op = model::CloudOp::kOfferings};
}

/// "3 came: a, b, c"
std::string told(const std::vector<std::string>& names, const std::string& what) {
  if (names.empty()) return {};
  std::string out = std::to_string(names.size()) + " " + what + ": ";
  for (std::size_t i = 0; i < names.size() && i < kTypesTold; ++i)
    out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kTypesTold)
    out += " and " + std::to_string(names.size() - kTypesTold) + " more";
  return out;
}

}  // namespace

bool OfferingEvents::may_ask(std::uint32_t index) const {
  if (!offered_.asked().contains(index) || !sets_.at(index).open) return false;
  const auto* of = offered_.find(sets_.at(index).name);
  return of != nullptr && !of->asking;
}

Mono OfferingEvents::next_wake() const {
  Mono next = fleet::kNever;
  for (const std::uint32_t index : offered_.asked())
    if (may_ask(index)) next = std::min(next, offered_.find(sets_.at(index).name)->at);
  return next;
}

void OfferingEvents::send_due(std::uint32_t index, Now now) {
  if (!may_ask(index)) return;
  const Set& set = sets_.at(index);
  auto& of = offered_.of(set.name);
  if (of.at > now.mono) return;
  const auto query = query_of(set.name);
  if (const auto* gate = gates_.shut(query, now.mono)) {
    of.at = std::max(gate->until, now.mono + kGatePause);
    if (of.problem.empty()) of.problem = gate->record.message;
    return;
  }
  gates_.sent(query, now.mono);
  of.asking = true;
  of.is_outdated = false;
  recorder_.effect(OfferingsCall{set.name, policy_.sets[index].list_timeout});
}

bool OfferingEvents::on(const OfferingsFetched& event, const std::set<std::string>& in_use,
                        Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index || offered_.find(event.set) == nullptr) return false;
  auto& of = offered_.of(event.set);
  of.asking = false;
  if (!event.result) {
    refused(of, event, *index, now);
    return false;
  }
  gates_.answered(query_of(event.set), nullptr, now);
  const Set& set = sets_.at(*index);
  const bool is_old = std::exchange(of.is_outdated, false);
  if (is_old) of.at = now.mono;
  if (is_old || !set.open) return false;  // Maybe those of an account that was not accepted.
  const auto& policy = policy_.sets[*index];
  auto taken = offered_.take({.set = event.set,
                              .region = policy.region.empty() ? set.info.region : policy.region,
                              .currency = set.info.currency},
                             *event.result, in_use, now.wall);
  if (taken.is_doubted) {
    failed(of, event.set, "",
           "the answer has no offering that can be used, and there were some before" +
               (of.ignored.empty() ? "" : "; " + of.ignored),
           now);
    return false;
  }
  of.failures = 0;
  of.problem.clear();
  of.at = now.mono + (taken.omits ? std::min(policy.offerings_interval, OfferedTypes::kDoubtPause)
                                  : policy.offerings_interval);
  tell(event.set, taken, now);
  const bool is_changed = !taken.changes.empty();
  for (auto& change : taken.changes) recorder_.change(std::move(change));
  return is_changed;
}

void OfferingEvents::refused(OfferedTypes::OfSet& of, const OfferingsFetched& event,
                             std::uint32_t index, Now now) {
  auto error = event.result.error();
  const auto query = query_of(event.set);
  // An account that may not read offerings may still create.
  if (error.cls != model::CloudErrorClass::kRateLimit) error.scope |= model::scope::kOperation;
  gates_.answered(query, &error, now);
  failed(of, event.set, to_string(error.cls), error.message, now);
  if (error.cls == model::CloudErrorClass::kUnsupported)
    of.at = now.mono + policy_.sets[index].offerings_interval;
}

/// Told once, until an answer is good again.
void OfferingEvents::failed(OfferedTypes::OfSet& of, const std::string& set,
                            const std::string& code, const std::string& why, Now now) {
  const auto index = sets_.index_of(set);
  const Duration longest = std::max(kFirstRetry, policy_.sets[*index].offerings_interval);
  of.problem = why;
  if (++of.failures == 1)
    recorder_.record("cloud", "set " + set, model::Event::kOfferingsFailed, code, why, now);
  of.at = now.mono + fleet::backoff(of.failures, kFirstRetry, longest);
}

void OfferingEvents::tell(const std::string& set, const OfferedTypes::Taken& taken, Now now) {
  const std::string came = told(taken.came, "came"), left = told(taken.left, "left");
  if (came.empty() && left.empty()) return;
  recorder_.record("cloud", "set " + set, model::Event::kOfferingsChanged, "",
                   came + (came.empty() || left.empty() ? "" : "; ") + left, now);
}

void OfferingEvents::driver_replaced(const std::string& set, Now now) {
  if (offered_.find(set) == nullptr) return;
  auto& of = offered_.of(set);
  of.at = now.mono;
  of.is_outdated = of.asking;
}

void OfferingEvents::retry_failed(Now now) {
  for (const std::uint32_t index : offered_.asked())
    if (auto& of = offered_.of(sets_.at(index).name); of.failures > 0 || !of.problem.empty())
      of.at = now.mono;
}

}  // namespace hostler::dispatch
