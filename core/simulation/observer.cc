#include "core/simulation/observer.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace hostler::simulation {

using model::InstanceState;
using model::WorkState;

namespace {

double hours(Duration d) { return std::chrono::duration<double, std::ratio<3600>>(d).count(); }

bool is_on(InstanceState state) {
  return state == InstanceState::kRequested || state == InstanceState::kBooting ||
         state == InstanceState::kUnknown || state == InstanceState::kIdle ||
         state == InstanceState::kBusy;
}

}  // namespace

void Observer::see(const std::vector<model::Change>& changes, Duration now) {
  if (now >= next_sample_) sample(now);
  for (const model::Change& change : changes) {
    if (const auto* work = std::get_if<model::WorkChanged>(&change)) see(work->record, now);
    if (const auto* host = model::get_change<model::InstanceChanged>(change)) see(host->record);
    if (model::get_change<model::GateChanged>(change) != nullptr) ++report_.gates;
  }
}

void Observer::submitted(model::WorkId id, Duration at, double vcpus) {
  ++report_.submitted;
  ++now_.waiting;
  jobs_[id] = {.submitted = at, .vcpus = vcpus};
}

void Observer::refused(std::uint64_t jobs, const std::string& why) {
  if (report_.refused == 0) report_.refusal = why;
  report_.refused += jobs;
}

void Observer::see(const model::WorkRecord& row, Duration now) {
  const auto found = jobs_.find(row.id);
  if (found == jobs_.end()) return;
  JobSeen& job = found->second;
  if (job.state == WorkState::kRunning && row.state != WorkState::kRunning) {
    --now_.running;
    report_.vcpu_hours_used += hours(now - job.running_since) * job.vcpus;
  }
  const bool waited = job.state == WorkState::kQueued || job.state == WorkState::kStarting;
  const bool waits = row.state == WorkState::kQueued || row.state == WorkState::kStarting;
  if (waited != waits) now_.waiting += waits ? 1 : -1;
  if (row.state == WorkState::kRunning && job.state != WorkState::kRunning) {
    ++now_.running;
    job.running_since = now;
    if (job.attempt == 0)
      waits_.add(now - job.submitted);
    else if (row.attempt != job.attempt)
      ++report_.started_again;
    job.attempt = row.attempt;
  }
  job.state = row.state;
  if (model::is_terminal(row.state)) end(row.id, row.state);
}

void Observer::end(model::WorkId id, WorkState state) {
  if (state == WorkState::kSucceeded) ++report_.succeeded;
  if (state == WorkState::kFailed) ++report_.failed;
  if (state == WorkState::kCancelled) ++report_.cancelled;
  ended_.push_back(id);
  jobs_.erase(id);
}

std::vector<model::WorkId> Observer::take_ended() { return std::exchange(ended_, {}); }

void Observer::count(InstanceState state, std::int64_t by) {
  if (state == InstanceState::kIdle) now_.idle += by;
  if (state == InstanceState::kBusy) now_.busy += by;
  if (is_on(state) && state != InstanceState::kIdle && state != InstanceState::kBusy)
    now_.booting += by;
}

void Observer::see(const model::InstanceRecord& row) {
  const auto [found, fresh] = hosts_.try_emplace(row.id);
  HostSeen& host = found->second;
  if (!fresh) count(host.state, -1);
  if (!host.is_made && !row.provider_id.empty()) {
    host.is_made = true;
    ++report_.hosts;
  }
  host.state = row.state;
  count(row.state, 1);
  report_.hosts_at_once = std::max(report_.hosts_at_once, now_.booting + now_.idle + now_.busy);
  if (row.state != InstanceState::kGone) return;
  if (!host.is_made) ++report_.creates_refused;
  const bool was_used = row.first_job.us != 0 || row.agent != model::AgentReport::kNone;
  if (host.is_made && !was_used) ++report_.never_used;
  if (host.is_made && row.ready.us == 0) ++report_.never_ready;
  hosts_.erase(found);
}

/// Where there are too many samples, every second one goes, and they become rarer.
void Observer::sample(Duration now) {
  now_.at = now;
  report_.samples.push_back(now_);
  if (report_.samples.size() >= kSamplesMax) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < report_.samples.size(); i += 2)
      report_.samples[kept++] = report_.samples[i];
    report_.samples.resize(kept);
    sample_interval_ *= 2;
  }
  next_sample_ = now + sample_interval_;
}

void Observer::complete(Report& out) {
  sample(out.lasted);
  for (const auto& [id, job] : jobs_) {
    if (job.state == WorkState::kRunning)
      report_.vcpu_hours_used += hours(out.lasted - job.running_since) * job.vcpus;
    if (job.attempt == 0 && job.state != WorkState::kRunning)
      waits_.add(out.lasted - job.submitted);
  }
  report_.has_waits = !waits_.empty();
  report_.wait_median = waits_.quantile(0.5);
  report_.wait_p95 = waits_.quantile(0.95);
  report_.wait_most = waits_.quantile(1);
  report_.waiting = now_.waiting;
  report_.running = now_.running;
  Report mine = std::move(report_);
  mine.lasted = out.lasted;
  mine.reached_limit = out.reached_limit;
  mine.skipped = out.skipped;
  mine.host_hours = out.host_hours;
  mine.vcpu_hours_bought = out.vcpu_hours_bought;
  mine.cost = out.cost;
  mine.plans = out.plans;
  mine.events = out.events;
  mine.tasks = std::move(out.tasks);
  out = std::move(mine);
}

}  // namespace hostler::simulation
