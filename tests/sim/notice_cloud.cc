#include "tests/sim/notice_cloud.h"

#include <utility>
#include <variant>

namespace hostler::sim {
namespace {

using model::InterruptionAction;

/// The cloud's clock, which is right; the daemon's jumps.
Wall wall_of(Mono at) { return Wall{1'700'000'000'000'000} + at.time_since_epoch(); }

}  // namespace

Duration NoticeCloud::between(Duration low, Duration high) {
  return low + Duration(static_cast<Duration::rep>(
                   random_.below(static_cast<std::uint64_t>((high - low).count()) + 1)));
}

void NoticeCloud::begin(Duration trouble) {
  for (std::uint64_t n = 3 + random_.below(10); n > 0; --n)
    time_.after(between(10s, trouble), [this] { take_one_back(); });
}

void NoticeCloud::take_one_back() {
  std::vector<Machine*> running;
  for (const auto& one : cloud_.machines())
    if (one->state == model::CloudState::kRunning) running.push_back(one.get());
  if (running.empty()) return;
  auto made = std::make_unique<Notice>();
  Notice& notice = *notices_.emplace_back(std::move(made));
  notice.machine = running[random_.below(running.size())];
  const InterruptionAction actions[] = {InterruptionAction::kNotSaid,
                                        InterruptionAction::kTerminate, InterruptionAction::kStop,
                                        InterruptionAction::kRestart};
  notice.action = actions[random_.below(4)];
  const Duration lead = between(0s, 3min);
  if (random_.chance(0.7)) notice.at = wall_of(time_.now() + lead);
  const auto sources = 1 + random_.below(7);
  notice.by_driver = (sources & 1U) != 0;
  notice.by_list = (sources & 2U) != 0 && notice.at.us != 0;
  notice.on_host = (sources & 4U) != 0;
  for (int times = random_.chance(0.3) ? 2 : 1; times > 0; --times) {
    const Duration late = random_.chance(0.2) ? between(0s, lead + 30s) : between(0s, 2s);
    time_.after(late, [this, &notice] {
      if (notice.holds) tell(notice, false);
    });
  }
  const auto fate = random_.below(5);
  if (fate == 0) {  // Withdrawn.
    time_.after(lead / 2, [this, &notice] {
      notice.holds = false;
      tell(notice, true);
    });
  } else if (fate != 1) {  // Else nothing follows it.
    const Duration when = fate == 2 ? lead / 2 : lead + (fate == 3 ? between(0s, 1min) : 0s);
    time_.after(when, [this, &notice] {
      cloud_.take_back(*notice.machine, notice.action);
      notice.holds = false;
    });
  }
}

model::Interruption NoticeCloud::record_of(const Notice& notice, bool withdrawn) const {
  return {notice.machine->id, "spot", withdrawn ? Wall{} : notice.at,
          withdrawn ? InterruptionAction::kWithdrawn : notice.action};
}

void NoticeCloud::tell(const Notice& notice, bool withdrawn) {
  if (notice.by_driver) say({record_of(notice, withdrawn)});
  if (notice.on_host)
    on_machine_(*notice.machine, {withdrawn ? "" : "spot", withdrawn ? Wall{} : notice.at,
                                  withdrawn ? InterruptionAction::kWithdrawn : notice.action});
}

void NoticeCloud::say(std::vector<model::Interruption> notices) {
  if (!watch_) return;
  if (random_.chance(0.2)) notices.push_back({"i-of-others", "", {}, {}});
  const dispatch::NoticesSeen seen{"west", watch_->number, std::move(notices)};
  for (int times = random_.chance(0.2) ? 2 : 1; times > 0; --times)
    watch_->reply(between(0s, 2s), seen);
}

void NoticeCloud::watch(const dispatch::WatchCall& call, bool faults, const Reply& reply) {
  watch_ = {call.number, reply};
  const bool fails = faults && random_.chance(0.5);
  std::optional<model::CloudError> problem;
  if (fails) problem = error(model::CloudErrorClass::kTransient, "the stream broke", false);
  const Duration lasts = fails ? between(0s, call.timeout) : call.timeout;
  reply(lasts, dispatch::WatchEnded{call.set, call.number, std::move(problem)});
  time_.after(lasts, [this, number = call.number] {
    if (watch_ && watch_->number == number) watch_.reset();
  });
  std::vector<model::Interruption> present;
  for (const auto& notice : notices_)
    if (notice->holds && notice->by_driver) present.push_back(record_of(*notice, false));
  say(std::move(present));
}

Wall NoticeCloud::listed(const Machine& machine) const {
  for (const auto& notice : notices_)
    if (notice->holds && notice->by_list && notice->machine == &machine) return notice->at;
  return {};
}

void NoticeCloud::check(const dispatch::Outbox& outbox, const dispatch::Queries& queries, Now now) {
  for (const auto& change : outbox.changes)
    if (const auto* row = std::get_if<model::WorkChanged>(&change)) check_row(row->record);
  std::set<model::InstanceId> cordoned;
  for (const auto& view : queries.instances()) {
    if (view.cordoned) cordoned.insert(view.record.id);
    const auto state = view.record.state;
    const bool is_up = state == model::InstanceState::kIdle || state == model::InstanceState::kBusy;
    const auto& notice = view.record.interruption;
    if (is_up && notice && notice->at.us == 0 && !view.cordoned && now.wall < notice->holds_until())
      complain_(view.record.id.text() + " will be interrupted soon, and gets work");
  }
  for (const auto& effect : outbox.effects) {
    const auto* command = std::get_if<model::HostCommand>(&effect);
    const auto* start = command == nullptr ? nullptr : std::get_if<model::StartAttempt>(command);
    if (start != nullptr && cordoned.contains(start->instance))
      complain_(start->attempt.text() + " starts on " + start->instance.text() +
                ", which will be interrupted");
  }
  cordoned_ = std::move(cordoned);
}

void NoticeCloud::check_row(const model::WorkRecord& row) {
  if (!model::is_terminal(row.state) || row.cancel_requested || row.restored) return;
  const auto job = disk_.jobs().find(row.id);
  if (job == disk_.jobs().end() || !job->second.shape.restartable) return;
  if (row.reason == model::EndReason::kHostLost && cordoned_.contains(row.instance))
    complain_(row.id.text() + " went with a host that was to be interrupted, and has failed");
  if (row.interrupted && row.reason != model::EndReason::kTimeLimit)
    complain_(row.id.text() + " was told to end because of an interruption, and is not run again");
}

}  // namespace hostler::sim
