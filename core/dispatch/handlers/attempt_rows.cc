#include "core/dispatch/handlers/attempt_rows.h"

#include <optional>
#include <utility>

namespace hostler::dispatch {
namespace {

/// The end of an attempt that no host will report any more. Unset if it is not known to have begun.
std::optional<model::AttemptEnd> lost_end(const work::Job* job, Now now) {
  if (job == nullptr || job->state() != model::WorkState::kRunning) return std::nullopt;
  model::AttemptEnd end;
  end.reason = model::EndReason::kHostLost;
  end.output_is_inline = false;  // The part of it that is here came in pieces.
  end.started = job->record->started;
  end.ended = now.wall;
  return end;
}

}  // namespace

model::AttemptChanged AttemptRows::row_of(const Host& host, const fleet::PlacedAttempt& attempt) {
  model::AttemptChanged row;
  row.attempt = attempt.attempt;
  row.instance = host.id();
  row.boot_id = attempt.boot_id;
  row.sequence = attempt.sequence;
  row.cards = attempt.cards;
  return row;
}

void AttemptRows::finish(Host& host, model::AttemptId attempt, Now now) {
  const auto* found = host.instance.occupancy.find(attempt);
  if (found == nullptr) return;
  auto row = row_of(host, *found);
  row.state = model::AttemptState::kDone;
  if (!found->collecting) row.end = lost_end(jobs_.find(attempt), now);
  recorder_.change(std::move(row));
  host.instance.occupancy.remove(attempt);
}

void AttemptRows::withdraw(Host& host, model::AttemptId attempt) {
  const auto* found = host.instance.occupancy.find(attempt);
  if (found == nullptr) return;
  auto row = row_of(host, *found);
  row.state = model::AttemptState::kDone;
  recorder_.change(std::move(row));
  host.instance.occupancy.remove(attempt);
}

void AttemptRows::acknowledge(const Host& host, model::AttemptId attempt) {
  recorder_.command(model::AckAttempt{host.id(), attempt});
}

}  // namespace hostler::dispatch
