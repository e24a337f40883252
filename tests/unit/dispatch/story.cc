#include "tests/unit/dispatch/story.h"

namespace hostler::dispatch {
namespace {

/// Keys and secrets by number.
CreateSecretsFactory counting_secrets() {
  auto made = std::make_shared<int>(0);
  return [made](const model::PoolPolicy&, const std::string&, const model::SetInfo&,
                model::CreateRequest& request, model::HostIdentity& identity) {
    const std::string number = std::to_string(++*made);
    request.idempotency_key = "key-" + number;
    request.user_data = "secret " + number;
    identity.challenge_secret = "secret " + number;
  };
}

/// Commands whose purpose says what they are for: "open hostler-l1 as hostler-l1".
Options with_accounts(Options options) {
  const auto named = [](const std::string& what, const model::LeaseAccount& account) {
    model::HostExec out;
    out.purpose = what + " " + account.name() + " as " + account.user();
    return out;
  };
  options.accounts = {
      .open =
          [named](const model::LeaseAccount& account, const std::vector<std::string>& keys) {
            auto out = named("open", account);
            for (const auto& key : keys) out.input += key + "\n";
            return out;
          },
      .close = [named](const model::LeaseAccount& account) { return named("close", account); },
      .notify =
          [named](const model::LeaseAccount& account, const model::AccountNotice& notice) {
            auto out = named("tell", account);
            out.input = notice.text + notice.command;
            return out;
          },
      .find =
          [] {
            model::HostExec out;
            out.purpose = "find accounts";
            return out;
          },
  };
  return options;
}

model::InstanceType type(const std::string& name, std::int32_t vcpus, std::int64_t price) {
  model::InstanceType out;
  out.name = out.provider_type = name;
  out.resources = {.vcpus = vcpus, .gpus = 0, .ram = vcpus * kGiB, .scratch = 0};
  out.price_per_hour = {price};
  return out;
}

}  // namespace

model::SitePolicy small_site() {
  model::SitePolicy out;
  out.types = {type("small", 2, 60), type("large", 8, 200)};
  auto& set = out.sets.emplace_back();
  set.name = "west";
  set.list_interval = 24h;  // Most stories have no lists, and none is overdue for that.
  model::PoolPolicy pool;
  pool.name = "default";
  pool.sets = {"west"};
  pool.types = {"small", "large"};
  pool.sizes.max = 10;
  out.pools = {pool};
  return out;
}

model::CloudError error(CloudErrorClass cls, bool outcome_unknown) {
  model::CloudError out;
  out.cls = cls;
  out.message = "the cloud says no";
  out.outcome_unknown = outcome_unknown;
  return out;
}

Story::Story(model::SitePolicy policy, Options options)
    : dispatcher(std::move(policy), counting_secrets(), with_accounts(std::move(options))) {}

void Story::restore(model::Restored restored) {
  if (restored.owner.empty()) restored.owner = "us";
  if (restored.epoch == 0) restored.epoch = 3;
  for (const auto& row : restored.instances) history_.emplace_back(row);
  for (const auto& row : restored.work) history_.emplace_back(model::WorkChanged{row.record});
  take(dispatcher.restore(std::move(restored), now));
  pump();
}

void Story::begin(model::Restored restored) {
  restore(std::move(restored));
  model::SetInfo info;
  info.list_consistency = 100ms;
  info.has_leftovers = true;
  say(SetOpened{"west", info});
}

void Story::take(Outbox out) {
  for (auto& change : out.changes) {
    history_.push_back(change);
    changes.push_back(std::move(change));
  }
  for (auto& effect : out.effects) {
    if (const auto* call = std::get_if<PricesCall>(&effect))
      price_calls_[call->type.name] = call->number;
    effects.push_back(std::move(effect));
  }
  bodies_wanted.insert(bodies_wanted.end(), out.bodies_wanted.begin(), out.bodies_wanted.end());
}

void Story::pump() {
  for (int n = 0; n < 20; ++n) {
    Outbox out = dispatcher.tick(now);
    std::optional<PlanMade> made;
    std::optional<InstancesLookedUp> looked_up;
    for (const auto& effect : out.effects)
      if (const auto* wanted = std::get_if<MakePlan>(&effect))
        made = {wanted->number, scheduler::make_plan(*wanted->snapshot, *wanted->policy)};
    for (const auto& effect : out.effects)
      if (const auto* asked = std::get_if<LookUpCall>(&effect))
        looked_up = {asked->set, now.mono, asked->instances, look_up};
    take(std::move(out));
    if (looked_up) take(dispatcher.apply(std::move(*looked_up), now));
    if (looked_up && !made) continue;
    if (!made) return;
    if (plans_wait) {
      plan = std::move(made);
      return;
    }
    take(dispatcher.apply(std::move(*made), now));
  }
}

void Story::say(Event event) {
  take(dispatcher.apply(std::move(event), now));
  pass(dispatcher.queries().policy().plan_interval);
}

void Story::pass(Duration time) {
  now = {now.mono + time, now.wall + time};
  pump();
}

void Story::clear() {
  changes.clear();
  effects.clear();
  bodies_wanted.clear();
}

model::WorkItem Story::job(std::int32_t vcpus, bool restartable) const {
  model::WorkItem out;
  out.shape.needs = {.vcpus = vcpus, .gpus = 0, .ram = kGiB, .scratch = 0};
  out.shape.restartable = restartable;
  out.body = std::make_shared<const std::string>("{}");
  return out;
}

Result<std::vector<WorkId>> Story::ask(Event event) {
  const Ticket ticket = ++tickets_;
  std::visit(
      [ticket](auto& body) {
        if constexpr (requires { body.ticket; }) body.ticket = ticket;
      },
      event);
  say(std::move(event));
  for (const auto& reply : all<Reply>())
    if (reply.ticket == ticket) return reply.result;
  return fail(Errc::kInternal, "no answer");
}

std::vector<WorkId> Story::submit(std::vector<model::WorkItem> jobs, const std::string& who) {
  auto answer = ask(Submit{0, who, std::move(jobs)});
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? *answer : std::vector<WorkId>{};
}

SubmitLease Story::lease(Duration term, std::int32_t vcpus) const {
  SubmitLease out;
  out.work.shape.needs = {.vcpus = vcpus, .gpus = 0, .ram = kGiB, .scratch = 0};
  out.work.body = std::make_shared<const std::string>("{}");
  out.lease.term = term;
  return out;
}

WorkId Story::borrow(SubmitLease lease, const std::string& who) {
  lease.principal = who;
  const auto answer = ask(std::move(lease));
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? answer->at(0) : WorkId{};
}

void Story::list(std::vector<model::ListedInstance> instances) {
  const Mono sent = now.mono;
  pass(1s);
  say(SetListed{"west", sent, model::share(std::move(instances))});
}

void Story::create_ended(InstanceId id, std::optional<model::CloudError> error) {
  say(CreateEnded{id, std::move(error)});
}

void Story::say_prices(const std::string& type,
                       model::CloudResult<std::vector<model::ZonePrice>> result) {
  say(PricesFetched{"west", type, price_calls_[type], std::move(result)});
}

model::ListedInstance Story::seen(InstanceId id, model::CloudState state) {
  const auto ours = record(id);
  model::ListedInstance out;
  out.id = "i-" + std::to_string(id.value);
  out.idempotency_key = ours.idempotency_key;
  out.set_id = "west";
  out.owner = "us";
  out.pool = ours.pool;
  out.type = ours.type;
  out.idle = to_string(ours.idle_behavior);
  out.address = "10.0.0." + std::to_string(id.value);
  out.remote_user = "admin";
  out.state = state;
  return out;
}

void Story::host(InstanceId id, model::HostEventBody body) {
  say(model::HostEvent{id, std::move(body)});
}

void Story::ready(InstanceId id, std::vector<model::AttemptReport> attempts,
                  const std::string& boot_id) {
  host(id, model::HostReady{boot_id, ++connections_, 0, std::move(attempts)});
}

void Story::boot(InstanceId id) {
  say(CreateSeen{id, seen(id)});
  create_ended(id);
  host(id, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  ready(id);
}

void Story::exited(InstanceId id, WorkId job, std::uint32_t attempt, int code) {
  model::AttemptEnd end;
  end.exit_code = code;
  end.ended = now.wall;
  host(id, model::AttemptExited{{job, attempt}, end});
}

std::pair<WorkId, InstanceId> Story::running(bool restartable) {
  const auto id = submit({job(2, restartable)}).at(0);
  const auto on = all<CreateCall>().back().instance;
  boot(on);
  host(on, model::AttemptStarted{{id, 1}, now.wall});
  EXPECT_EQ(record(id).state, WorkState::kRunning);
  return {id, on};
}

model::WorkRecord Story::record(WorkId id) const {
  model::WorkRecord out;
  for (const auto& change : history_) {
    if (const auto* fresh = std::get_if<model::WorkItem>(&change); fresh != nullptr)
      if (fresh->record.id == id) out = fresh->record;
    if (const auto* one = std::get_if<model::WorkChanged>(&change); one != nullptr)
      if (one->record.id == id) out = one->record;
  }
  return out;
}

model::InstanceRecord Story::record(InstanceId id) const {
  model::InstanceRecord out;
  for (const auto& change : history_)
    if (const auto* one = model::get_change<model::InstanceChanged>(change); one != nullptr)
      if (one->record.id == id) out = one->record;
  return out;
}

std::vector<std::string> Story::ledger() const {
  std::vector<std::string> out;
  for (const auto& one : journalled<model::LedgerRecord>())
    out.push_back(one.subject + " " + to_string(one.event) +
                  (one.reason_code.empty() ? "" : " " + one.reason_code));
  return out;
}

}  // namespace hostler::dispatch
