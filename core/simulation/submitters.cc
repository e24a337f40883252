#include "core/simulation/submitters.h"

#include "core/base/units.h"

namespace hostler::simulation {
namespace {

constexpr std::size_t kSubmitMax = 1000;  ///< Jobs of one submit.

}  // namespace

void Submitters::begin() {
  if (auto waits = await_job(); !waits) problem_ = std::move(waits.error());
}

/// Reads the next job of the load, and submits it at its time with all that arrive then.
Result<void> Submitters::await_job() {
  if (!next_) next_ = HOSTLER_TRY(load_.next());
  if (!next_) return {};
  time_.at(start_ + next_->at, [this] {
    if (auto submitted = submit_due(); !submitted) problem_ = std::move(submitted.error());
  });
  return {};
}

Result<void> Submitters::submit_due() {
  std::vector<std::vector<Job>> submits;
  std::size_t count = 0;
  while (next_ && start_ + next_->at <= time_.now() && count < kSubmitMax) {
    HOSTLER_TRY(check_limits());
    ++count;
    if (submits.empty() || !next_->joins) submits.emplace_back();
    submits.back().push_back(std::move(*next_));
    next_ = HOSTLER_TRY(load_.next());
  }
  for (auto& jobs : submits) submit(std::move(jobs));
  return await_job();
}

Result<void> Submitters::check_limits() {
  const auto beyond = [&](const std::string& what) {
    return fail(Errc::kTooLarge, "load: more than " + what + " after " +
                                     format_duration(time_.now() - start_) +
                                     ", which is the limit of a simulation");
  };
  if (++jobs_read_ > limits_.jobs)
    return beyond(std::to_string(limits_.jobs) + " jobs have arrived");
  if (observer_.waiting() + unanswered_ > limits_.jobs_waiting)
    return beyond(std::to_string(limits_.jobs_waiting) + " jobs wait at once");
  return {};
}

void Submitters::submit(std::vector<Job> jobs) {
  dispatch::Submit submit;
  submit.ticket = ++tickets_;
  submit.principal = jobs.front().user;
  for (const Job& job : jobs) submit.work.emplace_back().shape = job.shape;
  unanswered_ += std::ssize(jobs);
  submitted_[submit.ticket] = std::move(jobs);
  post_(std::move(submit));
}

void Submitters::hear(const dispatch::Reply& answer) {
  const auto found = submitted_.find(answer.ticket);
  if (found == submitted_.end()) return;
  const std::vector<Job> jobs = std::move(found->second);
  submitted_.erase(found);
  unanswered_ -= std::ssize(jobs);
  if (!answer.result) return observer_.refused(jobs.size(), answer.result.error().message);
  for (std::size_t i = 0; i < answer.result->size(); ++i) {
    const model::WorkId id = (*answer.result)[i];
    fates_[id] = {jobs[i].runs, jobs[i].fails};
    observer_.submitted(id, jobs[i].at, static_cast<double>(jobs[i].shape.needs.vcpus));
  }
}

void Submitters::forget(const std::vector<model::WorkId>& jobs) {
  for (const model::WorkId id : jobs) fates_.erase(id);
}

Hosts::Fate Submitters::fate_of(model::WorkId id) const {
  const auto found = fates_.find(id);
  return found == fates_.end() ? Hosts::Fate{} : found->second;
}

}  // namespace hostler::simulation
