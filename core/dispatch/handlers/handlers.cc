#include "core/dispatch/handlers/handlers.h"

#include <utility>

namespace hostler::dispatch {
namespace {

InstanceSteps::Owners owners_of(State& s) {
  return {s.policy, s.sets, s.hosts, s.jobs, s.gates, s.governor, s.plan, s.recorder};
}

}  // namespace

Handlers::Handlers(State& s, CreateSecretsFactory make_secrets,
                   const std::vector<std::string>& take_over_sets)
    : calls(s.policy, s.sets, s.hosts, s.gates, s.governor, s.recorder),
      attempt_rows(s.jobs, s.recorder),
      job_steps(s.jobs, s.plan, s.recorder),
      instance_steps(owners_of(s), calls, attempt_rows, job_steps),
      sets(s.policy, s.sets, s.hosts, s.menu, s.gates, s.plan, s.recorder),
      duplicates(s.policy, s.hosts, s.recorder, instance_steps),
      lists(owners_of(s), s.menu, s.set_aside, take_over_sets, duplicates, instance_steps),
      answers(s.policy, s.sets, s.hosts, s.menu, s.gates, s.plan, s.recorder, instance_steps),
      attempts(s.policy, s.jobs, s.set_aside, s.viewer, s.plan, s.recorder, attempt_rows, job_steps,
               instance_steps),
      hosts(s.policy, s.hosts, s.recorder, instance_steps, attempts),
      work(s.policy, s.jobs, s.menu, s.plan, s.recorder, job_steps),
      admin(owners_of(s), s.menu, s.set_aside, instance_steps),
      creates(owners_of(s), s.menu, std::move(make_secrets), calls, instance_steps),
      power(owners_of(s), s.viewer, instance_steps),
      snapshots(s.policy, s.sets, s.hosts, s.jobs, s.menu, s.viewer, s.set_aside, s.gates,
                s.governor),
      plans(owners_of(s), s.viewer, snapshots, instance_steps, attempts, creates, power),
      restore(owners_of(s), s.menu, s.set_aside, job_steps, instance_steps) {}

}  // namespace hostler::dispatch
