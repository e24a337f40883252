#include "core/dispatch/handlers/questions/price_events.h"

#include <chrono>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/model/currency.h"

namespace hostler::dispatch {
namespace {

/// How far back prices are fetched the first time.
constexpr Duration kFirstPrices = std::chrono::hours(24);
/// After a call that was refused.
constexpr Duration kPricesRetry = std::chrono::seconds(30);

}  // namespace

std::optional<double> PriceEvents::rate(std::uint32_t set) const {
  return model::rate_of(policy_, sets_.at(set).info.currency);
}

void PriceEvents::policy_changed(Now now) {
  volume_prices_.resize(sets_.size());
  for (std::uint32_t set = 0; set < sets_.size(); ++set) {
    const model::Micros volume = policy_.sets[set].volume_price;
    if (std::exchange(volume_prices_[set], volume) != volume) answers_.forget(set);
    std::vector<std::string> types;
    for (const std::uint32_t type : menu_.types_of(set))  // An offering says its own price.
      if (policy_.types[type].only_in.empty()) types.push_back(policy_.types[type].name);
    questions_.keep(set, model::CloudOp::kOther, types,
                    {policy_.sets[set].price_interval, kPricesRetry}, now);
    for (const auto& type : answers_.keep(set, types, rate(set)))
      questions_.ask_now({set, model::CloudOp::kOther, type}, now);
  }
}

void PriceEvents::send_due(std::uint32_t set, Now now) {
  if (to_reprice_.erase(set) > 0) reprice(sets_.at(set).name, now);
  if (!sets_.at(set).is_open()) return answers_.closed(set);
  const auto due = questions_.due(set, model::CloudOp::kOther, now);
  for (const auto& call : due.calls) ask(set, call, now);
  if (!due.held_back.empty())
    for (const auto& [type, answer] : answers_.of(set)) {
      answers_.wanted(set, type, rate(set), now.mono);
      if (answer.error.empty()) answers_.refused(set, type, due.held_back);
    }
  give_up(set, now);
}

void PriceEvents::ask(std::uint32_t set, const Questions::Call& call, Now now) {
  answers_.wanted(set, call.about, rate(set), now.mono);
  const auto type = *menu_.type_index(call.about);
  const Wall since = menu_.newest_price(set, type).value_or(now.wall + -kFirstPrices);
  auto asked = policy_.types[type];
  asked.price_per_hour = model::from_site(asked.price_per_hour, rate(set).value_or(1));
  recorder_.effect(PricesCall{sets_.at(set).name, std::move(asked), call.number, since,
                              policy_.sets[set].list_timeout});
}

void PriceEvents::give_up(std::uint32_t set, Now now) {
  std::string types;
  for (const auto& type : answers_.take_given_up(set, now.mono))
    types += (types.empty() ? "" : ", ") + type;
  if (types.empty()) return;
  plan_.want();
  recorder_.record("cloud", "set " + sets_.at(set).name, model::Event::kPricesUnknown, "",
                   "its driver has not said for 10 minutes what these types cost: " + types, now);
}

void PriceEvents::on(const PricesFetched& event, Now now) {
  const auto set = sets_.index_of(event.set);
  if (!set) return;
  const Questions::Name question{*set, model::CloudOp::kOther, event.type};
  const auto* error = event.result ? nullptr : &event.result.error();
  if (!questions_.take(question, event.number, error, now)) return;
  const bool has_none = error != nullptr && error->cls == model::CloudErrorClass::kUnsupported;
  if (error != nullptr) {  // The known prices hold.
    questions_.bad(question, error->cls, now);
    if (!has_none) {
      plan_.want();
      return answers_.refused(*set, event.type,
                              std::string(model::to_string(error->cls)) + ": " + error->message);
    }
  } else {
    questions_.good(question, now);
    auto taken = menu_.take_prices(*set, event.type, *event.result, now.wall);
    const bool has_news = !taken.news.empty();
    for (auto& price : taken.news) recorder_.change(std::move(price));
    if (has_news) to_reprice_.insert(*set);
    for (const std::uint32_t doubted : taken.doubted) {
      const auto& offering = menu_.offerings()[doubted];
      gates_.price_doubted(gates_.create_query(offering), offering.price_per_hour,
                           policy_.types[offering.type].price_per_hour, now);
    }
    if (taken.changed) plan_.want();
  }
  if (answers_.answered(*set, event.type, rate(*set))) plan_.want();
}

void PriceEvents::reprice(const std::string& set, Now now) {
  for (const auto& [id, known_host] : hosts_.all()) {
    const auto& known = known_host.instance;
    if (known.record.set != set || !known.type || known.listing.has_price()) continue;
    const auto price =
        menu_.clouds_price_of(known.set, *known.type, known.record.zone, known.record.market);
    if (!price || *price == known.record.price_per_hour) continue;
    Host& host = *hosts_.change(id);
    host.instance.record.price_per_hour = *price;
    recorder_.change(model::InstanceChanged{host.instance.record, nullptr, false});
    steps_.count(host, now);
  }
}

}  // namespace hostler::dispatch
