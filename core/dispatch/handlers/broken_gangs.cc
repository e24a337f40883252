#include "core/dispatch/handlers/broken_gangs.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hostler::dispatch {

using model::WorkState;

void BrokenGangs::restored() {
  for (const auto id : leases_.ungranted())
    gangs_.note_broken(leases_.gang(*leases_.find(id)), /*lets_go=*/false);
}

void BrokenGangs::mend(Now now) {
  const auto broken = gangs_.take_broken();
  if (broken.empty()) return;
  std::vector<Gangs::Broken> later;
  for (const auto& [id, one] : broken)
    if (is_suspended(one.gang))
      later.push_back(one);
    else
      mend(one, now);
  (void)gangs_.take_broken();  // mend() has noted these: they are mended already.
  for (const auto& one : later) gangs_.note_broken(one.gang, one.lets_go);
}

bool BrokenGangs::is_suspended(const model::Gang& gang) {
  if (accounts_.are_rows_doubted()) return true;
  return std::ranges::any_of(leases_.members(gang), [&](const work::Lease* one) {
    const Host* host = ends_.host_of(*one);
    return host != nullptr && one->record.starts == 0 && accounts_.is_suspended(*host);
  });
}

std::string BrokenGangs::why_apart(const model::Gang& gang) {
  const std::vector<work::Lease*> all = leases_.members(gang);
  const auto was_granted = [](const work::Lease* one) { return one->record.starts > 0; };
  const auto first = std::ranges::find_if(all, was_granted);
  if (first != all.end()) return (*first)->id().text() + " of its gang was granted without it";
  model::WorkId next{gang.id, model::WorkKind::kLease};
  for (const work::Lease* one : all) {
    if (one->id() != next || one->state() == WorkState::kCollecting) break;
    ++next.value;
  }
  if (next.value == gang.id + gang.count) return "";
  return set_aside_.contains(next) ? "the row of " + next.text() + " of its gang is damaged"
                                   : next.text() + " of its gang has ended";
}

/// A held lease may have been granted after the backup was made: it is left to an admin.
void BrokenGangs::mend(const Gangs::Broken& broken, Now now) {
  const std::string why = why_apart(broken.gang);
  if (why.empty() && !broken.lets_go) return;
  const std::vector<work::Lease*> all = leases_.members(broken.gang);
  if (why.empty()) gangs_.let_go(all.front()->cls, "one of its hosts could not be granted", now);
  for (work::Lease* one : all) {
    const WorkState state = one->state();
    if (state != WorkState::kQueued && state != WorkState::kStarting) continue;
    if (why.empty()) {
      if (one->has_host()) let_go(*one, now);
      continue;
    }
    if (one->queued) waiting_.note_cancelled(one->cls);
    const bool cleans = ends_.cleans(*one);
    const bool is_due = one->grant_by() <= now.mono;  // All are due at the same time.
    auto outcome = is_due ? work::due(*one, cleans, now)
                          : work::cancel(*one, "hostler, as " + why, cleans, now);
    ends_.apply(*one, std::move(outcome), "dispatcher", now);
  }
}

/// After the step the lease does not name its host any more.
void BrokenGangs::let_go(work::Lease& lease, Now now) {
  const model::WorkId id = lease.id();
  const model::InstanceId on = lease.record.instance;
  if (lease.has_account()) accounts_.close_left(on, id, now);
  const bool may_be_lent_anew = lease.record.restored && !lease.has_account();
  auto outcome = work::let_go(lease, "another lease of its gang could not be granted");
  const work::HostAfter after = outcome.host;
  steps_.apply(lease, std::move(outcome), now);
  Host* host = hosts_.change(on);
  if (host == nullptr) return;
  if (may_be_lent_anew) ends_.hold(*host, "dispatcher", now);
  ends_.leave(*host, id, after, /*was_used=*/false, "dispatcher", now);
}

}  // namespace hostler::dispatch
