#include "core/dispatch/state/questions/questions.h"

#include <algorithm>
#include <chrono>

#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

/// A half-open gate is probed by another call: its answer is awaited.
constexpr Duration kGatePause = std::chrono::seconds(1);

}  // namespace

void Questions::keep(std::uint32_t set, model::CloudOp op, const std::vector<std::string>& about,
                     Rhythm rhythm, Now now) {
  std::erase_if(all_, [&](const auto& entry) {
    const Name& name = entry.first;
    return name.set == set && name.op == op && std::ranges::find(about, name.about) == about.end();
  });
  for (const auto& one : about) {
    Question& question = all_[{set, op, one}];
    question.rhythm = rhythm;
    question.next = std::min(question.next, now.mono + rhythm.every);
  }
}

Questions::Due Questions::due(std::uint32_t set, model::CloudOp op, Now now) {
  Due out;
  if (!can_be_asked(set, op)) return out;
  const gates::GateQuery call{.set = sets_.at(set).name, .op = op};
  for (auto at = all_.lower_bound({set, op});
       at != all_.end() && at->first.set == set && at->first.op == op; ++at) {
    Question& question = at->second;
    if (question.under_way || due_at(question) > now.mono) continue;
    // The first call may shut the gate for the others, if it is the one that probes.
    if (const auto* gate = gates_.shut(call, now.mono)) {
      question.next = std::max(gate->until, now.mono + kGatePause);
      out.held_back = gate->record.message;
      continue;
    }
    gates_.sent(call, now.mono);
    question.under_way = ++calls_;
    question.sent = now.mono;
    out.calls.push_back({at->first.about, calls_});
  }
  return out;
}

std::optional<Mono> Questions::take(const Name& name, std::uint64_t number,
                                    const model::CloudError* error, Now now) {
  const Set& set = sets_.at(name.set);
  const gates::GateQuery call{.set = set.name, .op = name.op};
  gates_.side_call_answered(call, error, now);
  const auto found = all_.find(name);
  if (found == all_.end() || found->second.under_way != number) return std::nullopt;
  Question& question = found->second;
  question.under_way.reset();
  if (set.takes_answer(question.sent)) {
    if (error != nullptr && error->retry_after)
      question.not_before = now.mono + std::min(*error->retry_after, kAskedPauseMax);
    return question.sent;
  }
  question.next = now.mono;
  return std::nullopt;
}

void Questions::good(const Name& name, Now now, std::optional<Duration> pause) {
  Question& question = all_.at(name);
  question.failures = 0;
  const Duration every = question.rhythm.every;
  question.next = now.mono + std::min(pause.value_or(every), every);
}

bool Questions::bad(const Name& name, model::CloudErrorClass cls, Now now) {
  Question& question = all_.at(name);
  const auto& [every, first] = question.rhythm;
  ++question.failures;
  // What a driver does not support it supports no sooner when it is asked more often.
  const bool is_lasting = cls == model::CloudErrorClass::kUnsupported;
  question.next = now.mono + (is_lasting ? every : fleet::backoff(question.failures, first, every));
  return question.failures == 1;
}

void Questions::ask_now(const Name& name, Now now) {
  Question& question = all_.at(name);
  question.next = std::min(question.next, now.mono);
}

void Questions::ask_again(std::uint32_t set, Now now) {
  for (auto& [name, question] : all_) {
    if (name.set != set) continue;
    question.under_way.reset();
    question.next = question.not_before = now.mono;
  }
}

void Questions::ask_held_back(std::uint32_t set, const model::GateRecord& gate, Now now) {
  for (auto& [name, question] : all_)
    if (name.set == set && gates::holds(gate, {.set = sets_.at(set).name, .op = name.op})) {
      question.next = std::min(question.next, now.mono);
      question.not_before = now.mono;
    }
}

Mono Questions::next_wake() const {
  Mono next = fleet::kNever;
  for (const auto& [name, question] : all_) next = std::min(next, next_of(name, question));
  return next;
}

std::vector<Questions::Status> Questions::all() const {
  std::vector<Status> out;
  for (const auto& [name, question] : all_)
    out.push_back({.name = name,
                   .what = name.op == model::CloudOp::kOther ? "prices" : to_string(name.op),
                   .next = next_of(name, question),
                   .sent = question.under_way ? std::optional(question.sent) : std::nullopt});
  return out;
}

Mono Questions::next_of(const Name& name, const Question& question) const {
  return question.under_way || !can_be_asked(name.set, name.op) ? fleet::kNever : due_at(question);
}

bool Questions::can_be_asked(std::uint32_t set, model::CloudOp op) const {
  const Set& asked = sets_.at(set);
  return asked.is_open() && (op != model::CloudOp::kLeftovers || asked.info.has_leftovers) &&
         (op != model::CloudOp::kOther || asked.info.has_price_history);
}

}  // namespace hostler::dispatch
