#include "core/dispatch/handlers/interruptions.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::dispatch {
namespace {

constexpr std::size_t kNoticeTextMax = 200;

}  // namespace

void Interruptions::noticed(Host& host, model::Notice notice, const char* actor, Now now) {
  notice.text = printable(notice.text, kNoticeTextMax);
  const auto& pool = policy_.pools[host.instance.pool];
  apply(host, fleet::noticed(host.instance, std::move(notice), pool, now), actor, now);
}

bool Interruptions::listed(Host& host, const model::ListedInstance& seen, Now now) {
  const auto& known = host.instance.notices.of(model::NoticeSource::kList);
  const bool is_withdrawn = seen.interruption.us == 0;
  if (is_withdrawn && !known) return false;
  noticed(host,
          {.source = model::NoticeSource::kList,
           .action = is_withdrawn ? model::InterruptionAction::kWithdrawn
                                  : model::InterruptionAction::kNotSaid,
           .noticed = {},
           .at = seen.interruption,
           .text = is_withdrawn ? "" : seen.state_reason},
          "cloud", now);
  return true;
}

void Interruptions::on(Host& host, const model::HostInterruption& event, Now now) {
  noticed(host,
          {.source = model::NoticeSource::kHost,
           .action = event.action,
           .noticed = {},
           .at = event.at,
           .text = event.text},
          "host", now);
}

void Interruptions::fire_due(Now now) {
  while (const auto id = hosts_.pop_notice_due(now.mono)) {
    Host* host = hosts_.change(*id);
    if (host == nullptr) continue;
    const auto& pool = policy_.pools[host->instance.pool];
    apply(*host, fleet::notice_due(host->instance, pool, now), "timer", now);
  }
}

void Interruptions::connected(Host& host, Now now) {
  host.interruptions.tell_again();
  act(host, now);
}

void Interruptions::apply(Host& host, fleet::Outcome outcome, const char* actor, Now now) {
  steps_.apply(host, std::move(outcome), actor, now);  // A notice ends no instance.
  act(host, now);
}

void Interruptions::act(Host& host, Now now) {
  accounts_.tell(host, now);
  const auto& instance = host.instance;
  if (!instance.record.interruption) {
    host.interruptions.end();
    return;
  }
  if (!instance.notices.is_cordoned()) return;
  host.interruptions.set_time(instance.record.interruption->at);
  if (instance.link.has_agent()) tell(host, now);
  if (fleet::ends_work_now(instance, policy_.pools[instance.pool], now)) end_work(host, now);
}

void Interruptions::tell(Host& host, Now now) {
  const auto& notice = *host.instance.record.interruption;
  const Duration left =
      std::max(Duration::zero(),
               (notice.at.us != 0 ? notice.at : notice.noticed + model::kNoticeHolds) - now.wall);
  // A host or a driver that gives and withdraws notices without end fills no ledger.
  const bool is_told = host.instance.notices.may_tell();
  for (const auto& placed : host.instance.occupancy.attempts()) {
    if (placed.collecting || !placed.started) continue;
    const auto [is_due, is_first] = host.interruptions.tell(placed.attempt);
    if (!is_due) continue;
    if (is_first && is_told && jobs_.find(placed.attempt) != nullptr)
      recorder_.record("dispatcher", placed.attempt.work.text(), model::Event::kInterruptionCommand,
                       "",
                       host.id().text() + " is told that " + to_string(notice) +
                           (notice.at.us != 0 ? ", in " + format_duration(left) : ""),
                       now);
    recorder_.command(model::InterruptAttempt{host.id(), placed.attempt, notice.noticed, notice.at,
                                              left, notice.action});
  }
}

void Interruptions::end_work(Host& host, Now now) {
  const auto attempts = host.instance.occupancy.attempts();
  for (const auto& placed : attempts) {
    work::Job* job = placed.collecting ? nullptr : jobs_.find(placed.attempt);
    if (job != nullptr)
      job_steps_.apply(*job, work::interrupt(*job, to_string(*host.instance.record.interruption)),
                       now);
  }
}

}  // namespace hostler::dispatch
