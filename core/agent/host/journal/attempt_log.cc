#include "core/agent/host/journal/attempt_log.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::agent {
namespace {

constexpr std::uint64_t kRotateAt = std::uint64_t{4} << 20;

}  // namespace

Result<void> AttemptLog::open() {
  HOSTLER_TRY(journal_.open([this](Record&& record) { attempts_.apply(std::move(record)); }));
  if (attempts_.state_id.empty()) attempts_.state_id = random_hex(16);
  // Which file a shim of an earlier server writes to is unknown: assume the oldest.
  for (auto& [id, attempt] : attempts_.all()) attempt.journal_number = journal_.oldest();
  return {};
}

Result<void> AttemptLog::begin(const Begin& begin) {
  HOSTLER_TRY(journal_.append(to_record(begin)));
  attempts_.apply(begin);
  attempts_.find(begin.attempt)->journal_number = journal_.number();
  return {};
}

void AttemptLog::end(const End& end) {
  (void)journal_.append(to_record(end));
  attempts_.apply(end);
}

void AttemptLog::set_unknown_end(model::AttemptId id) {
  if (Attempt* attempt = attempts_.find(id)) attempt->unknown_end = true;
}

Attempt AttemptLog::forget(model::AttemptId id) {
  Attempt* const attempt = attempts_.find(id);
  HOSTLER_ASSERT(attempt != nullptr, "only attempts of the table are forgotten");
  Attempt out = std::move(*attempt);
  (void)journal_.append(to_record(Forget{id}));
  attempts_.apply(Forget{id});
  return out;
}

void AttemptLog::read_new() {
  journal_.read_new([this](Record&& record) { attempts_.apply(std::move(record)); });
}

std::set<model::AttemptId> AttemptLog::take_ended() {
  read_new();
  std::set<model::AttemptId> ended = attempts_.take_ended();
  const std::int64_t now = ended.empty() ? 0 : boottime_us();
  for (const model::AttemptId id : ended) {
    sync_plan_.ended(id, now);
    const Attempt* attempt = attempts_.find(id);
    // Copy an End from an older file to the newest one, because the older file may be removed.
    if (attempt != nullptr && attempt->journal_number != journal_.number())
      (void)journal_.append(to_record(End{id, *attempt->end, attempt->spooled}));
  }
  return ended;
}

void AttemptLog::tick() {
  if (due() <= boottime_us()) {
    journal_.sync();
    sync_plan_.synced();
  }
  if (journal_.size() > rotate_above_) rotate();
}

void AttemptLog::rotate() {
  const auto rotated = journal_.rotate(attempts_.snapshot());
  // Counted from the present size: the new file may begin large, and after a failure (disk full)
  // the next try has to wait.
  rotate_above_ = journal_.size() + kRotateAt;
  if (!rotated) return;
  std::uint64_t oldest = journal_.number();
  for (const auto& [id, attempt] : attempts_.all())
    if (attempt.phase() == Phase::kRunning) oldest = std::min(oldest, attempt.journal_number);
  journal_.drop_before(oldest);
}

}  // namespace hostler::agent
