#include "tests/sim/hosts.h"

/// Ends of attempts, and their output, which comes late on some days.
namespace hostler::sim {

using model::AttemptId;

void Hosts::tell_end(Machine& machine, AttemptId attempt) {
  model::AttemptEnd end = machine.runs.at(attempt).end;
  if (lies(machine)) lies_.distort(end);
  agent_says(machine, model::AttemptExited{attempt, end});
  if (lies(machine)) tell_lies(machine, attempt);
  if (end.output_is_inline && !end.has_output_files) return;
  const Duration late = chance_.between(1ms, 3s);
  if (!late_output_) return tell_collected(machine, attempt, late);
  if (const auto later = output_is_late(machine, attempt))
    tell_collected(machine, attempt, late + *later);
}

void Hosts::tell_collected(Machine& machine, AttemptId attempt, Duration after) {
  time_.after(after, [this, &machine, attempt, connection = machine.connection] {
    if (machine.connection == connection && machine.runs.contains(attempt))
      agent_says(machine, model::AttemptCollected{attempt, ""});
  });
}

std::optional<Duration> Hosts::output_is_late(Machine& machine, AttemptId attempt) {
  Random fate(attempt.work.value * 1000 + attempt.number + machine.connection);
  if (attempt.work.value % 5 == 0) return std::nullopt;
  if (fate.chance(0.5)) return Duration(0s);
  const Duration late = 1min + Duration(30min) * fate.below(100) / 100;
  agent_says(machine, model::OutputProgress{attempt, 1, 100, true});
  time_.after(late, [this, &machine, attempt, connection = machine.connection] {
    if (machine.connection == connection && machine.runs.contains(attempt))
      agent_says(machine, model::OutputProgress{attempt, 50, 100, false});
  });
  return late;
}

}  // namespace hostler::sim
