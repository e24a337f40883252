#include "core/dispatch/handlers/drains.h"

#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/dispatch/state/host_metrics.h"
#include "core/scheduler/shutdown_rule.h"

namespace hostler::dispatch {
namespace {

constexpr std::size_t kCommandTextMax = 500;  ///< Of what a command has said.

}  // namespace

void Drains::apply(const scheduler::Drain& drain, Now now) {
  Host* host = owners_.hosts.change(drain.host);
  if (host == nullptr || !may_go(*host, now)) return;
  const auto& pool = owners_.policy.pools[host->instance.pool];
  if (!pool.scaling.drain) return;
  auto outcome = fleet::begin_drain(host->instance, drain.reason, *pool.scaling.drain, now);
  if (!outcome.changed) return;
  steps_.apply(*host, std::move(outcome), "scheduler", now);
  if (pool.scaling.drain->command.empty()) return;
  owners_.recorder.effect(DrainCall{.instance = drain.host,
                                    .began = host->instance.record.drain_began,
                                    .cloud_id = host->instance.record.provider_id,
                                    .pool = pool.name,
                                    .command = pool.scaling.drain->command,
                                    .timeout = pool.scaling.drain->timeout});
}

bool Drains::may_go(const Host& host, Now now) const {
  const auto view = owners_.viewer.view(host);
  const auto& pool = owners_.policy.pools[host.instance.pool];
  const auto is_true = [&](model::Reason code) {
    return scheduler::still_true(code, view, host.closed, pool, now.mono);
  };
  return !view.kept && view.phase == scheduler::HostPhase::kReady &&
         (is_true(model::Reason::kIdle) || is_true(model::Reason::kBeyondMax));
}

void Drains::on(const DrainEnded& event, Now now) {
  Host* host = owners_.hosts.change(event.instance);
  if (host == nullptr || host->instance.record.drain_began != event.began) return;
  const auto& pool = owners_.policy.pools[host->instance.pool];
  steps_.apply(*host,
               fleet::drain_command_ended(host->instance, event.good,
                                          printable(event.text, kCommandTextMax), pool, now),
               "drain", now);
  look(now);
}

void Drains::look(Now now) {
  const auto draining = owners_.hosts.draining();
  if (draining.empty()) return;
  if (owners_.hosts.refresh_views(owners_.viewer)) owners_.plan.want();
  auto counts = count_hosts(owners_.policy.pools.size(), owners_.hosts.views());
  QueueCounts queued(owners_.waiting.queue(), owners_.menu.offerings(), owners_.policy);
  for (const auto id : draining) {
    const auto& instance = owners_.hosts.find(id)->instance;
    if (!fleet::awaits_quiet(instance)) continue;
    if (owners_.expressions.of(instance.pool).counts_queue)
      counts[instance.pool].queued = queued.of(instance.pool);
    const std::string why = why_quiet(instance, counts[instance.pool], now);
    if (why.empty()) continue;
    Host* host = owners_.hosts.change(id);
    steps_.apply(*host, fleet::drain_over(host->instance, why), "metrics", now);
  }
}

std::string Drains::why_quiet(const fleet::Instance& instance, const PoolCounts& counts,
                              Now now) const {
  const auto& pool = owners_.policy.pools[instance.pool];
  if (!pool.scaling.drain) return "its pool drains no hosts any more";
  const auto& quiet = owners_.expressions.of(instance.pool).quiet;
  if (!quiet) return {};
  const ExpressionInputs::Subject subject{.keys = metric_keys(instance.record),
                                          .counts = counts,
                                          .measured_after = instance.ending.drain.quiet_after()};
  const auto outcome = inputs_.evaluate(*quiet, subject, now);
  if (!outcome.value || *outcome.value == 0) return {};
  return "it is quiet: " + outcome.text;
}

void Drains::fire_due(Now now) {
  while (const auto id = owners_.hosts.pop_drain_due(now.mono)) {
    Host* host = owners_.hosts.change(*id);
    const auto& pool = owners_.policy.pools[host->instance.pool];
    steps_.apply(*host, fleet::drain_due(host->instance, pool, now), "timer", now);
  }
}

}  // namespace hostler::dispatch
