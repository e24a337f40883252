#include "core/dispatch/handlers/questions/offering_events.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace hostler::dispatch {
namespace {

using model::CloudOp;

constexpr Duration kFirstRetry = std::chrono::seconds(30);
/// After an answer that omits something.
constexpr Duration kDoubtPause = std::chrono::minutes(1);
constexpr std::size_t kTypesTold = 5;

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

void OfferingEvents::policy_changed(Now now) {
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    std::vector<std::string> whole_set;
    if (offered_.asked().contains(i)) whole_set.emplace_back();
    questions_.keep(i, CloudOp::kOfferings, whole_set,
                    {policy_.sets[i].offerings_interval, kFirstRetry}, now);
  }
}

void OfferingEvents::send_due(std::uint32_t index, Now now) {
  const auto due = questions_.due(index, CloudOp::kOfferings, now);
  const std::string& set = sets_.at(index).name;
  for (const auto& call : due.calls)
    recorder_.effect(OfferingsCall{set, call.number, policy_.sets[index].list_timeout});
  if (!due.held_back.empty() && offered_.of(set).problem.empty())
    offered_.of(set).problem = due.held_back;
}

bool OfferingEvents::on(const OfferingsFetched& event, const std::set<std::string>& in_use,
                        Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return false;
  const Questions::Name question{*index, CloudOp::kOfferings};
  const auto* error = event.result ? nullptr : &event.result.error();
  if (!questions_.take(question, event.number, error, now)) return false;
  if (error != nullptr) {
    failed(question, error->cls, error->message, now);
    return false;
  }
  const Set& set = sets_.at(*index);
  const auto& policy = policy_.sets[*index];
  auto taken = offered_.take({.set = event.set,
                              .region = policy.region.empty() ? set.info.region : policy.region,
                              .currency = set.info.currency},
                             *event.result, in_use, now.wall);
  auto& of = offered_.of(event.set);
  if (taken.is_doubted) {
    failed(question, model::CloudErrorClass::kMisbehaving,
           "the answer has no offering that can be used, and there were some before" +
               (of.ignored.empty() ? "" : "; " + of.ignored),
           now);
    return false;
  }
  of.problem.clear();
  questions_.good(question, now, taken.omits ? std::optional(kDoubtPause) : std::nullopt);
  tell(event.set, taken, now);
  const bool is_changed = !taken.changes.empty();
  for (auto& change : taken.changes) recorder_.change(std::move(change));
  return is_changed;
}

/// Told once, until an answer is good again.
void OfferingEvents::failed(const Questions::Name& question, model::CloudErrorClass cls,
                            const std::string& why, Now now) {
  const std::string& set = sets_.at(question.set).name;
  offered_.of(set).problem = why;
  if (questions_.bad(question, cls, now))
    recorder_.record("cloud", "set " + set, model::Event::kOfferingsFailed, model::to_string(cls),
                     why, now);
}

void OfferingEvents::tell(const std::string& set, const OfferedTypes::Taken& taken, Now now) {
  const std::string came = told(taken.came, "came"), left = told(taken.left, "left");
  if (came.empty() && left.empty()) return;
  recorder_.record("cloud", "set " + set, model::Event::kOfferingsChanged, "",
                   came + (came.empty() || left.empty() ? "" : "; ") + left, now);
}

}  // namespace hostler::dispatch
