#include <utility>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/daemon/service/service.h"

/// Requests about quotas, and the deletion of kept outputs.
namespace hostler::daemon {
namespace {

/// Adds the bytes, which the store knows.
Result<std::vector<model::QuotaView>> with_bytes(store::Store& store,
                                                 std::vector<model::QuotaView> views) {
  for (auto& view : views) {
    view.blob_bytes = HOSTLER_TRY(store.blobs().bytes_of(view.principal));
    view.output_bytes = HOSTLER_TRY(store.output_bytes_of(view.principal));
  }
  return views;
}

struct Removal {
  std::uint64_t bytes = 0;
  bool first = false;  ///< Nobody has deleted them before.
};

/// Of all attempts of a job up to its last.
Result<Removal> discard(store::Store& store, model::AttemptId last, const store::Discarded& by) {
  Removal out;
  if (last.number == 0) return out;
  out.first = !HOSTLER_TRY(store.outputs().discarded(last));
  for (model::AttemptId attempt{last.work, 1}; attempt.number <= last.number; ++attempt.number)
    out.bytes += HOSTLER_TRY(store.outputs().discard(attempt, by));
  return out;
}

}  // namespace

void DaemonService::quotas(const api::Principal& who, const std::string& principal,
                           api::Answer<std::vector<model::QuotaView>> answer) {
  const bool own = who.role == api::Role::kSubmit;
  if (own && !principal.empty() && principal != who.name)
    return answer(fail(Errc::kForbidden, who.name + " may see its own quotas only"));
  // The worker adds the bytes: it may read the disk, and the loop must not wait for that.
  uses_.loop->query([uses = uses_, name = own ? who.name : principal, answer = std::move(answer)](
                        const dispatch::Queries& state, Now now) {
    auto views = name.empty() ? state.quotas(now.mono) : std::vector{state.quota(name, now.mono)};
    const bool taken = uses.worker->post([store = uses.store, views = std::move(views), answer] {
      answer(with_bytes(*store, views));
    });
    if (!taken) answer(fail(Errc::kUnavailable, "too much is being counted now; ask again later"));
  });
}

void DaemonService::remove_outputs(const api::Principal& who, model::WorkId job,
                                   api::Answer<std::uint64_t> answer) {
  if (const auto able = check_state(); !able) return answer(tl::unexpected(able.error()));
  const auto known = uses_.store->reads().job(job, /*with_body=*/false);
  if (!known) return answer(tl::unexpected(known.error()));
  if (who.role != api::Role::kAdmin && known->principal != who.name)
    return answer(fail(Errc::kForbidden, job.text() + " is not yours"));
  if (!model::is_terminal(known->record.state))
    return answer(fail(Errc::kConflict, job.text() + " has not ended: it is " +
                                            model::to_string(known->record.state) +
                                            (known->record.state == model::WorkState::kCollecting
                                                 ? "; give up the rest of its output first "
                                                   "(hostler outputs give-up)"
                                                 : "; cancel it first")));
  const auto remove = [uses = uses_, last = model::AttemptId{job, known->record.attempt},
                       by = who.name, answer] {
    const auto removed = discard(*uses.store, last, {by, read_clocks().wall});
    if (!removed) return answer(tl::unexpected(removed.error()));
    if (removed->first) uses.loop->post(dispatch::OutputsRemoved{by, last.work, removed->bytes});
    answer(removed->bytes);
  };
  const bool taken = uses_.worker->post(remove);
  if (!taken) answer(fail(Errc::kUnavailable, "too much is being deleted now; ask again later"));
}

Result<void> DaemonService::check_not_discarded(const model::WorkRecord& job) const {
  if (!model::is_terminal(job.state) || job.attempt == 0) return {};
  const auto gone = HOSTLER_TRY(uses_.store->outputs().discarded({job.id, job.attempt}));
  if (!gone) return {};
  return fail(Errc::kNotFound, "the output of " + job.id.text() + " was deleted by " + gone->by +
                                   " at " + format_wall(gone->at));
}

}  // namespace hostler::daemon
