#include "core/base/units.h"
#include "tests/unit/api/fake_service.h"

namespace hostler::api {

void FakeService::submit_lease(const Principal& who, LeaseRows lease,
                               Answer<std::vector<model::WorkId>> answer) {
  lease_rows = std::move(lease);
  note("submit_lease by " + who.name);
  std::vector<model::WorkId> ids{{3, model::WorkKind::kLease}};
  if (lease_rows.work.shape.gang.count > 1) ids.push_back({4, model::WorkKind::kLease});
  give(answer, std::move(ids));
}

void FakeService::dry_run_lease(const Principal& who, LeaseRows lease, Answer<std::string> answer) {
  lease_rows = std::move(lease);
  note("dry_run_lease by " + who.name);
  answer(R"({"leases":[{"outcome":"host_ready","host":"h-1","starts_in":"0s"}]})");
}

void FakeService::lease(const Principal& who, model::WorkId id, Answer<LeaseDetail> answer) {
  note("lease " + id.text() + " by " + who.name);
  LeaseDetail out{lease_rows, {std::nullopt, host}};
  out.lease.work.record.id = id;
  out.lease.work.principal = submitter;
  give(answer, std::move(out));
}

void FakeService::leases(const Principal& who, const WorkFilter& filter, Answer<LeasePage> answer) {
  note_list("leases", filter, who);
  give(answer, LeasePage{{{lease_rows, {std::nullopt, host}}}, {2, model::WorkKind::kLease}});
}

void FakeService::return_lease(const Principal& who, model::WorkId lease, bool used,
                               Answer<void> answer) {
  note("return " + lease.text() + (used ? " used" : " unused") + " by " + who.name);
  if (during_return) during_return();
  if (return_error) return answer(tl::unexpected(*return_error));
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

void FakeService::renew_lease(const Principal& who, model::WorkId lease, Duration term,
                              Answer<void> answer) {
  note("renew " + lease.text() + " for " + exact_duration(term) + " by " + who.name);
  if (error) return answer(tl::unexpected(*error));
  answer({});
}

}  // namespace hostler::api
