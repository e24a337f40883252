#include "core/dispatch/handlers/set_events.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

std::string account_text(const std::string& account, const std::string& region) {
  const auto shown = [](const std::string& text) {
    return text.empty() ? " not known" : " '" + printable(text, model::kAccountBytesMax) + "'";
  };
  return "account" + shown(account) + ", region" + shown(region);
}

std::string account_problem(const Set& set, const model::SetInfo& reported) {
  return "the cloud reports " + account_text(reported.account_id, reported.region) +
         (set.account.is_damaged()
              ? ", and the stored account of this set is damaged"
              : ", and the instances of this set are in " +
                    account_text(set.account.stored().account, set.account.stored().region)) +
         ": the set is not used; correct the credentials, or accept this account: "
         "hostler sets accept-account " +
         set.name;
}

}  // namespace

void SetEvents::send_due(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  if (set.opening.is_due(now.mono)) ask_open(set, now);
}

void SetEvents::ask_open(Set& set, Now now) {
  const gates::GateQuery query{.set = set.name, .op = model::CloudOp::kOpen};
  if (const auto* gate = gates_.held_by_crashes(query, now.mono)) {
    set.opening.hold_back(gate->until, now.mono);
    set.problem = gate->record.message;
    return;
  }
  gates_.began(query, now.mono);
  set.opening.sent(now.mono);
  recorder_.effect(OpenSet{set.name});
}

void SetEvents::policy_changed(Now now) {
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    Set& set = sets_.at(i);
    if (set.is_open()) set.quota_groups.types_changed(now.mono);
    if (set.opening.is_under_way()) continue;
    if (set.is_open())
      ask_open(set, now);
    else
      set.opening.want_now(now.mono);
  }
}

void SetEvents::on(SetOpened& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  Set& set = sets_.at(*index);
  set.opening.answered();
  gates_.ended({.set = set.name, .op = model::CloudOp::kOpen},
               event.result ? nullptr : &event.result.error(), now);
  if (event.driver < set.driver.number) return set.opening.hold_back(now.mono, now.mono);
  set.driver.number = event.driver;
  if (event.result) return judge(set, *std::move(event.result), now);
  if (!set.is_open()) open_failed(set, event.result.error(), now);
}

void SetEvents::on(SuccessorOpened& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  Set& set = sets_.at(*index);
  if (!event.result) {
    recorder_.record("cloud", "set " + set.name, model::Event::kOpenFailed,
                     model::to_string(event.result.error().cls),
                     "with its new settings or driver; those from before stay in use: " +
                         event.result.error().message,
                     now);
    return;
  }
  set.driver.number = event.driver;
  judge(set, *std::move(event.result), now);
  recorder_.effect(UseDriver{set.name, event.driver});
  // What the driver before has refused or could not do, this one may do.
  set.look_ups.supported = true;
  set.quota_groups.driver_replaced();
  if (!set.is_open()) return;
  set.quota_groups.opened(now.mono);
  set.want_list_at_once(policy_.sets[*index], now.mono);
  gates_.driver_replaced(set.name, now);
}

void SetEvents::on(const CredentialsRenewed& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  Set& set = sets_.at(*index);
  if (!set.is_open()) set.opening.want_now(now.mono);
}

void SetEvents::judge(Set& set, model::SetInfo info, Now now) {
  if (set.account.agrees(info))
    open(set, std::move(info), now);
  else
    refuse_account(set, std::move(info), now);
}

void SetEvents::open_failed(Set& set, const model::CloudError& error, Now now) {
  set.problem = error.message;
  set.opening.failed(error.retry_after, now.mono);
  recorder_.record("cloud", "set " + set.name, model::Event::kOpenFailed,
                   model::to_string(error.cls), error.message, now);
}

void SetEvents::refuse_account(Set& set, model::SetInfo info, Now now) {
  if (set.opening.closed()) {
    hosts_.touch_all();
    plan_.want();
    recorder_.effect(UseSet{set.name, false});
  }
  set.opening.failed({}, now.mono);
  set.problem = account_problem(set, info);
  if (set.account.refuse(std::move(info)))
    recorder_.record("cloud", "set " + set.name, model::Event::kAccountDiffers, "", set.problem,
                     now);
}

void SetEvents::open(Set& set, model::SetInfo info, Now now) {
  if (set.account.use(set.name, info, now.mono))
    recorder_.change(set.account.stored());  // Before any create: effects leave after the changes.
  set.info = std::move(info);
  hosts_.touch_all();
  plan_.want();
  if (!set.opening.opened()) return;
  set.problem.clear();
  set.lists.opened(now.mono);
  set.quota_groups.opened(now.mono);
  recorder_.effect(UseSet{set.name, true});
  recorder_.record("cloud", "set " + set.name, model::Event::kOpened, "",
                   account_text(set.info.account_id, set.info.region), now);
}

bool SetEvents::on(const AcceptAccount& event, Now now) {
  const auto index = sets_.index_of(event.set);
  const auto refuse = [&](Error why) {
    recorder_.reply(event.ticket, tl::unexpected(std::move(why)));
    return false;
  };
  if (!index)
    return refuse({Errc::kNotFound, "no instance set '" + printable(event.set, 80) + "'"});
  Set& set = sets_.at(*index);
  if (!set.account.unaccepted())
    return refuse({Errc::kConflict, "there is nothing to accept: the cloud of set '" + set.name +
                                        "' has reported no other account than the stored one"});
  model::SetInfo info = set.account.accept();
  for (auto& gone : images_.forget(*index)) recorder_.change(std::move(gone));
  recorder_.record("user", "set " + set.name, model::Event::kAccountAccepted, "",
                   "by " + event.actor + ": " + account_text(info.account_id, info.region) +
                       " in place of " +
                       account_text(set.account.stored().account, set.account.stored().region),
                   now);
  open(set, std::move(info), now);
  recorder_.reply(event.ticket, std::vector<model::WorkId>{});
  return true;
}

}  // namespace hostler::dispatch
