#include "core/dispatch/handlers/set_events.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/text.h"
#include "core/model/currency.h"

namespace hostler::dispatch {
namespace {

/// How far back prices are fetched the first time.
constexpr Duration kFirstPrices = std::chrono::hours(24);
/// A driver that was too busy to name a quota group is asked again after this.
constexpr Duration kGroupPause = std::chrono::minutes(1);

bool is_group_name(const std::string& name) {
  return name.size() <= model::kQuotaGroupBytesMax && printable(name) == name;
}

/// The driver may answer another time.
bool may_pass(const model::CloudError& error) {
  return error.cls == model::CloudErrorClass::kTransient ||
         error.cls == model::CloudErrorClass::kTimeout ||
         error.cls == model::CloudErrorClass::kCancelled ||
         error.cls == model::CloudErrorClass::kRateLimit;
}

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
  if (set.is_open() && set.prices_at <= now.mono) fetch_prices(index, now);
  if (set.is_open() && set.quota_groups.next() <= now.mono) ask_quota_groups(index, now);
}

void SetEvents::ask_open(Set& set, Now now) {
  const gates::GateQuery query{.set = set.name, .op = model::CloudOp::kOpen};
  if (const auto* gate = gates_.held_by_crashes(query, now.mono)) {
    set.opening.hold_back(gate->until, now.mono);
    set.problem = gate->record.message;
    return;
  }
  gates_.began(query, now.mono);
  set.opening.sent();
  recorder_.effect(OpenSet{set.name, set.driver.in_process});
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
  set.prices_at = set.info.has_price_history ? now.mono : fleet::kNever;
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
  set.prices_at = set.info.has_price_history ? now.mono : fleet::kNever;
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

void SetEvents::fetch_prices(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  set.prices_at = now.mono + policy_.sets[index].price_interval;
  const gates::GateQuery query{.set = set.name, .op = model::CloudOp::kOther};
  for (const std::uint32_t type : menu_.types_of(index)) {
    if (!policy_.types[type].only_in.empty()) continue;  // Its offering says the price.
    // The first call may shut the gate for the others, if it is the one that probes.
    if (const auto* gate = gates_.shut(query, now.mono)) {
      set.prices_at = std::max(gate->until, now.mono + std::chrono::seconds(1));
      return;
    }
    gates_.sent(query, now.mono);
    const Wall since = menu_.newest_price(index, type).value_or(now.wall + -kFirstPrices);
    auto asked = policy_.types[type];
    asked.price_per_hour = model::from_site(asked.price_per_hour,
                                            model::rate_of(policy_, set.info.currency).value_or(1));
    recorder_.effect(PricesCall{set.name, std::move(asked), since, policy_.sets[index].list_timeout,
                                set.driver.in_process});
  }
}

void SetEvents::on(const PricesFetched& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  const gates::GateQuery query{.set = event.set, .op = model::CloudOp::kOther};
  if (!event.result) {
    const auto& error = event.result.error();
    gates_.side_call_answered(query, &error, now);
    if (error.cls == model::CloudErrorClass::kUnsupported)
      sets_.at(*index).prices_at = fleet::kNever;
    return;  // Fetched again at the next interval; until then the known prices hold.
  }
  gates_.answered(query, nullptr, now);
  auto taken = menu_.take_prices(*index, event.type, *event.result, now.wall);
  for (auto& price : taken.news) recorder_.change(std::move(price));
  if (taken.changed) plan_.want();
}

void SetEvents::ask_quota_groups(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  QuotaGroups& groups = set.quota_groups;
  const gates::GateQuery query{.set = set.name, .op = model::CloudOp::kQuotaGroup};
  if (const auto* gate = gates_.held_by_crashes(query, now.mono))
    return groups.hold_back(std::max(gate->until, now.mono + kGroupPause));
  groups.begin();
  groups.keep([&](const model::InstanceType& known) {
    const auto type = menu_.type_index(known.name);
    return type && model::is_same_kind(known, policy_.types[*type]);
  });
  for (const std::uint32_t t : menu_.types_of(index)) {
    const auto& type = policy_.types[t];
    if (!type.quota_group.empty() || groups.knows(type.name)) continue;
    if (gates_.held_by_crashes(query, now.mono) != nullptr)  // one call probes
      return groups.hold_back(now.mono + kGroupPause);
    groups.asked(type);
    gates_.began(query, now.mono);
    recorder_.effect(QuotaGroupCall{set.name, type, policy_.sets[index].list_timeout});
  }
}

void SetEvents::on(const QuotaGroupFetched& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  QuotaGroups& groups = sets_.at(*index).quota_groups;
  gates_.ended({.set = event.set, .op = model::CloudOp::kQuotaGroup},
               event.result ? nullptr : &event.result.error(), now);
  if (!groups.wants(event.type)) return;
  if (event.result) {
    // plugin_host lets no other pass. A name that were cut could be that of two groups.
    if (is_group_name(*event.result)) groups.set(event.type, *event.result);
  } else if (event.result.error().cls == model::CloudErrorClass::kUnsupported) {
    groups.unsupported();
  } else if (may_pass(event.result.error())) {
    groups.ask_again(event.type, now.mono + kGroupPause);
  }
}

}  // namespace hostler::dispatch
