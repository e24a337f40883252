#include "core/dispatch/handlers/handlers.h"

#include <utility>

namespace hostler::dispatch {
Handlers::Handlers(State& s, CreateSecretsFactory make_secrets,
                   const std::vector<std::string>& take_over_sets)
    : calls(s.policy, s.sets, s.hosts, s.gates, s.governor, s.recorder),
      last_words(s.sets, s.hosts, s.gates, s.recorder, calls),
      attempt_rows(s.jobs, s.recorder),
      job_steps(s.jobs, s.plan, s.recorder),
      reachability(s.policy, s.sets, s.hosts, s.plan, s.recorder),
      instance_steps({s.policy, s.sets, s.hosts, s.ended, s.jobs, s.gates, s.boots, s.commands,
                      s.governor, s.plan, s.recorder},
                     calls, last_words, attempt_rows, job_steps, reachability),
      sets(s.policy, s.sets, s.hosts, s.menu, s.images, s.gates, s.plan, s.recorder),
      images(s.policy, s.sets, s.images, s.gates, s.plan, s.recorder),
      offerings(s.policy, s.sets, s.offered, s.gates, s.recorder),
      types(s.configured, s.effective, s.offered, s.sets, s.hosts, s.menu, s.plan, s.recorder),
      leftovers(s.policy, s.sets, s.leftovers, s.hosts, s.set_aside, s.gates, s.recorder),
      duplicates(s.policy, s.hosts, s.recorder, instance_steps),
      tags(s.policy, s.sets, s.gates, s.recorder),
      absences(s.policy, s.sets, s.hosts, s.gates, s.plan, s.recorder, tags, instance_steps),
      lists(s.policy, s.sets, s.hosts, s.ended, s.lost_time, s.gates, s.plan, s.recorder, s.menu,
            s.set_aside, take_over_sets, duplicates, absences, tags, instance_steps),
      answers(s.policy, s.sets, s.hosts, s.menu, s.gates, s.plan, s.recorder, tags, instance_steps),
      takeover(s.hosts, s.jobs, s.lost_time, s.recorder, attempt_rows, job_steps),
      left_alone(s.set_aside, takeover, s.recorder),
      attempts(s.policy, s.jobs, s.set_aside, s.viewer, s.plan, s.recorder, attempt_rows, takeover,
               left_alone, job_steps, instance_steps),
      hosts(s.policy, s.hosts, s.commands, s.menu, s.plan, s.recorder, instance_steps, attempts),
      work(s.policy, s.sets, s.jobs, s.quotas, s.menu, s.offered, s.plan, s.recorder, job_steps),
      admin(s.policy, s.sets, s.hosts, s.gates, s.boots, s.governor, s.plan, s.recorder, s.menu,
            s.images, s.leftovers, s.set_aside, instance_steps),
      disk(s.hosts, s.recorder),
      creates(s.policy, s.sets, s.hosts, s.jobs, s.gates, s.governor, s.plan, s.recorder, s.menu,
              s.images, s.offered, std::move(make_secrets), calls, instance_steps),
      power(s.policy, s.sets, s.hosts, s.jobs, s.gates, s.plan, s.viewer, instance_steps),
      snapshots(s.policy, s.sets, s.hosts, s.jobs, s.menu, s.images, s.offered, s.viewer,
                s.set_aside, s.gates, s.governor, s.limits),
      plans(s.policy, s.sets, s.hosts, s.governor, s.plan, s.recorder, s.viewer, snapshots,
            instance_steps, attempts, creates, power),
      restore(s.policy, s.sets, s.hosts, s.jobs, s.lost_time, s.gates, s.boots, s.governor,
              s.recorder, s.menu, s.images, s.set_aside, job_steps, instance_steps),
      epochs(s.sets, s.plan, s.recorder, restore, s.is_old) {}

}  // namespace hostler::dispatch
