#include "tests/sim/push_rules.h"

#include <algorithm>
#include <utility>

namespace hostler::sim {
namespace {

using model::InstanceState;
using model::Reason;

/// The scheduler is asked before a host ends for this.
bool asks_scheduler(Reason code) {
  using enum Reason;
  return code == kIdle || code == kBootingSurplus || code == kStandbySurplus ||
         code == kBeyondMax || code == kOffMenu || code == kGaveWay || code == kExchanged ||
         code == kAbovePriceLimit || code == kTooOld || code == kUsedUp;
}

/// Its agent may be there.
bool is_on(const model::InstanceRecord& row) { return row.state < InstanceState::kStopped; }

/// Nobody but the daemon finds that the host is lost.
bool is_lost_to_daemon(Reason code) {
  return code == Reason::kUnreachable || code == Reason::kNotVerified ||
         code == Reason::kBootTimeout;
}

std::int64_t hosts_for(std::int64_t amount, std::int64_t each) {
  return each == 0 ? 0 : (amount + each - 1) / each;
}

/// Nothing but its agent keeps it from tasks.
bool is_clean(const scheduler::HostView& view) {
  return view.is_on() && !view.kept && !view.will_go() && !view.unfulfilled_spot &&
         !view.is_going && !view.adopted && !view.unseen && !view.unreachable_since &&
         view.offering != UINT32_MAX;
}

std::string names_text(const std::set<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

}  // namespace

void PushRules::daemon_started(const Disk& disk, Now now) {
  hosts_.clear();
  for (const auto& [id, row] : disk.instances())
    if (row.record.pool == pool_.name && row.record.state != InstanceState::kGone)
      hosts_[id].row = row.record;
  last_answer_ = 0;
  last_.reset();
  heard_ = now.mono;
  turns_.daemon_started(now.mono);
}

std::string PushRules::name_of(const model::InstanceRecord& row) const {
  if (agent_name() == model::AgentName::kInstance) return row.id.text();
  return agent_name() == model::AgentName::kCloudId ? row.provider_id : row.address;
}

std::set<model::InstanceId> PushRules::hosts_of(const std::string& agent) const {
  std::set<model::InstanceId> out;
  for (const auto& [id, host] : hosts_)
    if (name_of(host.row) == agent) out.insert(id);
  return out;
}

bool PushRules::is_abandoned(Mono now) const {
  const Duration after = pool_.pushed->abandoned_after;
  return after > Duration::zero() && now >= heard_ + after;
}

// ---- pushes and answers ------------------------------------------------------------------------

void PushRules::answered(const std::string& principal, const model::Push& push,
                         const model::PushAnswer& answer, Now now) {
  if (turns_.taken(principal, push, now.mono))
    for (auto& [id, host] : hosts_) host.named_by.reset(), host.acknowledged = false;
  heard_ = now.mono;
  last_ = push;
  hear_agents(push, now);
  if (!answers_.insert(answer.answer).second || answer.answer <= last_answer_)
    complain_("answer " + std::to_string(answer.answer) + " comes after answer " +
              std::to_string(last_answer_) + ", or a second time");
  last_answer_ = answer.answer;
  check_names(push, answer);
  check_never_fits(answer);
}

void PushRules::hear_agents(const model::Push& push, Now now) {
  std::map<model::InstanceId, Said> said;
  for (const auto& agent : push.agents)
    for (const auto id : hosts_of(agent.name))
      said[id] = agent.is_idle && said[id] != Said::kBusy ? Said::kIdle : Said::kBusy;
  for (auto& [id, host] : hosts_) {
    const auto found = said.find(id);
    const bool was_listed =
        host.said != Said::kNothing || host.row.agent != model::AgentReport::kNone;
    const Said news = found != said.end() ? found->second
                      : was_listed        ? Said::kMissing
                                          : Said::kNothing;
    if (news != host.said) {
      host.since = now.mono;
      host.is_exact = host.said != Said::kNothing || host.row.agent == model::AgentReport::kNone;
    }
    host.said = news;
    const bool is_seen = host.named_by && push.seen >= *host.named_by && push.seen <= last_answer_;
    host.acknowledged = news != Said::kBusy && (host.acknowledged || is_seen);
  }
}

/// Whom the answer names, and of whom it says that the pool does not have them.
void PushRules::check_names(const model::Push& push, const model::PushAnswer& answer) {
  std::set<model::InstanceId> going;
  for (const auto& name : answer.going) {
    const auto ids = hosts_of(name);
    going.insert(ids.begin(), ids.end());
    if (ids.empty()) complain_("an answer names " + name + ", and no host of its pool is that");
  }
  for (auto& [id, host] : hosts_) {
    const bool ends = host.row.state == InstanceState::kTerminating;
    const bool is_named = going.contains(id);
    if (ends && !is_named && !name_of(host.row).empty())
      complain_(id.text() + " is being ended, and an answer does not name it");
    const bool may_be_too_old = pool_.pushed->lifetime_max > Duration::zero();
    const bool shares_name = hosts_of(name_of(host.row)).size() > 1;
    if (is_named && host.said == Said::kBusy && is_on(host.row) && !may_be_too_old && !shares_name)
      complain_(id.text() + " is busy, and the answer to the push names it");
    if (!is_named) host.acknowledged = false;
    host.named_by =
        is_named ? host.named_by.value_or(answer.answer) : std::optional<std::uint64_t>();
  }
  std::set<std::string> unknown;
  for (const auto& agent : push.agents)
    if (hosts_of(agent.name).empty()) unknown.insert(agent.name);
  const std::set<std::string> told(answer.unknown_agents.begin(), answer.unknown_agents.end());
  if (told != unknown)
    complain_("unknown agents are " + names_text(unknown) + ", and told are " + names_text(told));
}

void PushRules::check_never_fits(const model::PushAnswer& answer) const {
  for (const auto& one : answer.never_fits) {
    const auto task = std::ranges::find(last_->tasks, one.id, &model::PushedTask::id);
    if (task == last_->tasks.end()) {
      complain_("a task never fits that was not pushed: " + one.id);
    } else if (std::ranges::count(one.slots_that_would_do, task->slots) > 0) {
      complain_("a task never fits with the slots that would do: " + one.id);
    }
  }
}

// ---- ends --------------------------------------------------------------------------------------

void PushRules::decided(const model::InstanceRecord& row, Now now) {
  Host& host = hosts_[row.id];
  const bool begins_to_end =
      row.state == InstanceState::kTerminating && host.row.state != InstanceState::kTerminating;
  if (begins_to_end) check_end(host, row, now);
  const bool goes_off = row.state == InstanceState::kStopped && is_on(host.row);
  if (goes_off && host.said == Said::kBusy && is_in_use_ && is_in_use_(row.id))
    complain_(row.id.text() + " counts as off, and a task runs there");
  // Pushes do not count while lists omit it.
  const bool reappears = host.row.state == InstanceState::kVanished && is_on(row);
  if (reappears) host.said = Said::kNothing;
  host.row = row;
  if (row.state == InstanceState::kGone) hosts_.erase(row.id);
}

void PushRules::check_end(const Host& host, const model::InstanceRecord& row, Now now) const {
  const Reason code = row.reason_code;
  const std::string what = row.id.text() + " is ended as " + to_string(code);
  const bool is_emptied = code == Reason::kBeyondMax && is_abandoned(now.mono);
  if (host.said == Said::kBusy && is_fresh(now.mono) && is_lost_to_daemon(code))
    complain_(what + ", and its agent is busy");
  if (host.row.state == InstanceState::kStopped) return;
  check_listing(host, code, now);
  if (!asks_scheduler(code) || is_emptied) return;
  if (!host.acknowledged) complain_(what + ", and its scheduler has not acknowledged that");
  if (host.said == Said::kBusy) complain_(what + ", and the last push calls its agent busy");
  // One that the scheduler cannot reach is lost with its tasks.
  if (host.said != Said::kMissing && is_in_use_ && is_in_use_(row.id))
    complain_(what + ", and a task runs there");
}

void PushRules::check_listing(const Host& host, Reason code, Now now) const {
  if (is_abandoned(now.mono)) return;
  const std::string what = host.row.id.text() + " is ended as " + to_string(code);
  const bool is_listed = host.said == Said::kIdle || host.said == Said::kBusy;
  const Duration passed = now.mono - host.since;
  if (code == Reason::kDisconnected && is_listed) complain_(what + ", and its agent is listed");
  if (code == Reason::kIdle && host.said != Said::kIdle)
    complain_(what + ", and no push says that its agent is");
  if (!host.is_exact) return;
  if (code == Reason::kIdle && passed < pool_.idle_timeout)
    complain_(what + ", and it is not idle for long");
  const bool goes_by_push = code == Reason::kDisconnected || asks_scheduler(code);
  if (goes_by_push && host.said == Said::kMissing && passed < pool_.pushed->shrink_after)
    complain_(what + ", and its agent is awaited");
}

// ---- plans -------------------------------------------------------------------------------------

void PushRules::planned(const scheduler::Snapshot& snapshot, const scheduler::Plan& plan,
                        std::uint32_t pool, const std::vector<std::int32_t>& sizes) const {
  const auto is_own = [&](model::InstanceId id) { return hosts_.contains(id); };
  for (const auto& place : plan.places)
    if (is_own(place.host)) complain_("a plan places work on " + place.host.text());
  const auto creates = std::ranges::count_if(plan.creates, [&](const auto& create) {
    return snapshot.offerings[create.offering].pool == pool && !create.is_exchange;
  });
  if (!is_fresh(snapshot.now)) return check_stale(snapshot, plan, creates);
  if (sizes.size() != 1) return;
  // Hosts that come, and ready ones that no push has listed yet, are for what waits.
  const auto coming = std::ranges::count_if(snapshot.hosts, [&](const auto& view) {
    const auto host = hosts_.find(view.id);
    return host != hosts_.end() && host->second.said == Said::kNothing &&
           host->second.row.agent == model::AgentReport::kNone && is_clean(view) &&
           snapshot.now < view.created + pool_.pushed->starting;
  });
  const std::int64_t most = std::max<std::int64_t>(0, wanted_hosts(sizes.front()) - coming);
  if (creates > most + pool_.sizes.min)
    complain_("a plan creates " + std::to_string(creates) + " hosts of pool " + pool_.name +
              ", which needs " + std::to_string(most) + " more");
}

/// Nothing grows and nothing shrinks, but for the minimum.
void PushRules::check_stale(const scheduler::Snapshot& snapshot, const scheduler::Plan& plan,
                            std::int64_t creates) const {
  if (creates > pool_.sizes.min)
    complain_("the last push is too old, and " + std::to_string(creates) + " hosts are created");
  if (is_abandoned(snapshot.now)) return;
  for (const auto& end : plan.shutdowns)
    if (hosts_.contains(end.host) && is_on(hosts_.at(end.host).row) &&
        (asks_scheduler(end.code) || end.code == Reason::kDisconnected))
      complain_("the last push is too old, and " + end.host.text() + " is to end as " +
                to_string(end.code));
}

/// Determined's number, as docs/design/determined.md has it.
std::int64_t PushRules::wanted_hosts(std::int64_t slots) const {
  if (last_->desired_new) return *last_->desired_new;
  std::map<std::string, std::int64_t> left = last_->group_max;
  std::int64_t aux = 0, sum = 0;
  for (const auto& task : last_->tasks) {
    const bool fits = task.slots <= slots || task.slots % slots == 0;
    if (!fits) continue;
    if (task.slots == 0) ++aux;
    const auto group = left.find(task.group);
    const bool has_max = !task.group.empty() && group != left.end();
    const std::int64_t counts =
        has_max ? std::min<std::int64_t>(group->second, task.slots) : task.slots;
    if (has_max) group->second -= counts;
    sum += counts;
  }
  return std::max(hosts_for(aux, pool_.pushed->aux_per_agent), hosts_for(sum, slots));
}

}  // namespace hostler::sim
