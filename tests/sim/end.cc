#include "tests/sim/world.h"

/// What must hold at the end of the day, and that it comes.
namespace hostler::sim {

/// A deadline that nobody serves would make the daemon use a whole CPU.
void World::check_time_passes() {
  constexpr int kTicksMax = 1000;
  ticks_now_ = ticked_at_ == time_.now() ? ticks_now_ + 1 : 0;
  ticked_at_ = time_.now();
  if (ticks_now_ > kTicksMax) complain("the daemon wakes again and again, and no time passes");
}

void World::check_ended(const model::WorkItem& row) {
  const auto id = row.record.id;
  if (id.kind == model::WorkKind::kLease) {
    if (row.record.reason == model::EndReason::kNone)
      complain(id.text() + " ended without a reason");
    return;
  }
  const int starts = hosts_.starts(id);
  if (row.principal == "unknown (restored)") return;  // So are its shape and its earlier attempts.
  if (starts > 1 && !row.shape.restartable) complain(id.text() + " is not restartable, ran twice");
  // A start that an interruption ended is taken back.
  const auto taken_back = notices_ ? row.record.attempt - row.record.starts : 0;
  if (starts > static_cast<int>(row.shape.attempts_max + taken_back))
    complain(id.text() + " ran too often");
  if (row.record.state == model::WorkState::kSucceeded && starts == 0)
    complain(id.text() + " succeeded and never ran");
}

void World::check_end() {
  for (const auto& [id, row] : disk_.jobs()) {
    if (!model::is_terminal(row.record.state))
      complain(id.text() + " never ended: " + model::to_string(row.record.state));
    check_ended(row);
  }
  for (const auto& [id, row] : disk_.forgotten()) check_ended(row);
  for (const auto& [id, row] : disk_.instances())
    if (row.record.state != model::InstanceState::kGone)
      complain(id.text() + " is still " + model::to_string(row.record.state));
}

Tally World::tally() const {
  Tally out = tally_;
  out.jobs = disk_.jobs().size() + disk_.forgotten().size();
  out.instances = disk_.instances().size();
  for (const auto& [id, row] : disk_.instances()) out.unused += row.record.first_job.us == 0;
  out.machine_time = cloud_.lived(), out.cards = hosts_.cards();
  if (borrowers_) out.leases = borrowers_->granted(), out.gangs = borrowers_->gangs();
  if (borrowers_ && borrowers_->accounts()) out.logins = borrowers_->accounts()->granted();
  return out;
}

}  // namespace hostler::sim
