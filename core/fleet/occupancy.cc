#include "core/fleet/occupancy.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::fleet {
namespace {

/// After it has connected again, a host has this time to go on with output that is nearly overdue.
constexpr Duration kOutputAgain = std::chrono::minutes(1);

}  // namespace

std::uint64_t output_size(std::uint64_t stdout_bytes, std::uint64_t stderr_bytes) {
  const std::uint64_t first = std::min(stdout_bytes, kCollectingBytesMax);
  return std::min(first + std::min(stderr_bytes, kCollectingBytesMax), kCollectingBytesMax);
}

void Occupancy::add(PlacedAttempt attempt) {
  HOSTLER_ASSERT(find(attempt.attempt) == nullptr, "an attempt is placed on a host once");
  if (!attempt.collecting) {
    used_ += attempt.needs;
    ++active_;
  }
  attempts_.push_back(std::move(attempt));
}

void Occupancy::add(Claim claim) {
  HOSTLER_ASSERT(std::ranges::find(claims_, claim.work, &Claim::work) == claims_.end(),
                 "a piece of work claims a host once");
  used_ += claim.needs;
  claims_.push_back(std::move(claim));
}

void Occupancy::release(const model::AttemptId& attempt) {
  const auto found = std::ranges::find(attempts_, attempt, &PlacedAttempt::attempt);
  if (found == attempts_.end() || found->collecting) return;
  HOSTLER_ASSERT(active_ > 0, "an attempt that is not collecting is counted as active");
  found->collecting = true;
  used_ -= found->needs;
  --active_;
  reported_.erase(attempt);
}

bool Occupancy::remove(const model::AttemptId& attempt) {
  const auto found = std::ranges::find(attempts_, attempt, &PlacedAttempt::attempt);
  if (found == attempts_.end()) return false;
  release(attempt);
  reported_.erase(attempt);
  if (found != attempts_.end() - 1) std::iter_swap(found, attempts_.end() - 1);
  attempts_.pop_back();
  return true;
}

bool Occupancy::remove(const model::WorkId& claim) {
  const auto found = std::ranges::find(claims_, claim, &Claim::work);
  if (found == claims_.end()) return false;
  used_ -= found->needs;
  claims_.erase(found);
  return true;
}

void Occupancy::leave_alone(const model::AttemptId& attempt, model::AttemptPhase phase) {
  left_alone_[attempt] = phase;
  if (phase != model::AttemptPhase::kRunning) reported_.erase(attempt);
}

bool Occupancy::forget_unplaced(const model::AttemptId& attempt) {
  if (find(attempt) == nullptr) reported_.erase(attempt);
  return left_alone_.erase(attempt) + ending_.erase(attempt) > 0;
}

void Occupancy::forget_unplaced() {
  left_alone_.clear();
  ending_.clear();
}

bool Occupancy::runs_unplaced() const {
  return !ending_.empty() || std::ranges::any_of(left_alone_, [](const auto& one) {
    return one.second == model::AttemptPhase::kRunning;
  });
}

const PlacedAttempt* Occupancy::find(const model::AttemptId& attempt) const {
  const auto found = std::ranges::find(attempts_, attempt, &PlacedAttempt::attempt);
  return found == attempts_.end() ? nullptr : &*found;
}

void Occupancy::set_started(const model::AttemptId& attempt, Mono at) {
  const auto found = std::ranges::find(attempts_, attempt, &PlacedAttempt::attempt);
  if (found != attempts_.end() && !found->started) found->started = at;
}

void Occupancy::set_output(const model::AttemptId& attempt, std::uint64_t bytes) {
  const auto found = std::ranges::find(attempts_, attempt, &PlacedAttempt::attempt);
  if (found != attempts_.end()) found->output_bytes = bytes;
}

void Occupancy::expect_output(const model::AttemptId& attempt, Mono now) {
  const auto found = std::ranges::find(attempts_, attempt, &PlacedAttempt::attempt);
  if (found != attempts_.end() && found->collecting) found->fetch.due = now + kOutputPatience;
}

void Occupancy::expect_output(Mono now) {
  for (auto& one : attempts_) {
    if (!one.collecting) continue;
    auto& fetch = one.fetch;
    // A host that connects again and again gets little time by it.
    fetch.due =
        fetch.due == kNever ? now + kOutputPatience : std::max(fetch.due, now + kOutputAgain);
    fetch.waits_for_room = false;  // The new connection says so anew.
  }
}

void Occupancy::stop_expecting_output() {
  for (auto& one : attempts_) one.fetch.due = kNever;
}

void Occupancy::output_came(const model::OutputProgress& progress, Mono now) {
  const auto found = std::ranges::find(attempts_, progress.attempt, &PlacedAttempt::attempt);
  if (found == attempts_.end() || !found->collecting) return;
  auto& fetch = found->fetch;
  const bool moves =
      progress.received != fetch.received || progress.here != fetch.here || fetch.waits_for_room;
  if (progress.waits_for_room || !progress.is_stored)
    fetch.due = kNever;
  else if (moves || fetch.due == kNever)
    fetch.due = now + kOutputPatience;
  fetch.here = progress.here;
  fetch.received = progress.received;
  fetch.size = progress.size;
  fetch.waits_for_room = progress.waits_for_room;
}

bool Occupancy::is_lent() const { return std::ranges::any_of(claims_, &Claim::whole); }

Mono Occupancy::output_due() const {
  Mono due = kNever;
  for (const auto& one : attempts_) due = std::min(due, one.fetch.due);
  return due;
}

std::vector<model::AttemptId> Occupancy::overdue_output(Mono now) const {
  std::vector<model::AttemptId> out;
  for (const auto& one : attempts_)
    if (one.fetch.due <= now) out.push_back(one.attempt);
  return out;
}

void Occupancy::report_room(std::optional<std::int64_t> scratch, std::optional<std::int64_t> ram) {
  if (scratch) scratch_ = scratch;
  if (ram) ram_ = ram;
}

model::Resources Occupancy::room_of(const model::InstanceType& type) const {
  const auto room = [](std::int64_t whole, std::int64_t left, std::int64_t used) {
    return std::max(std::min(whole, left), std::min(whole, used));
  };
  model::Resources out = type.resources;
  const std::int64_t ram = std::min(out.ram, ram_.value_or(out.ram));
  out.ram = room(out.ram, model::ram_for_jobs(ram, type.reserve), used_.ram);
  out.scratch = room(out.scratch, scratch_.value_or(out.scratch), used_.scratch);
  // Without a report, one group loses no more than what is in use: the number is enough.
  if (!cards_.has_told() && type.gpu_groups.size() < 2) return out;
  out.gpus = used_.gpus;
  for (const auto& group : free_groups(type)) out.gpus += group.count;
  return out;
}

bool Occupancy::output_waits() const {
  const std::size_t collecting = attempts_.size() - active_;
  if (collecting == 0 || collecting >= kCollectingMax) return collecting != 0;
  std::uint64_t bytes = 0;
  for (const auto& one : attempts_)
    if (one.collecting) bytes += one.output_bytes;
  return bytes >= kCollectingBytesMax;
}

}  // namespace hostler::fleet
