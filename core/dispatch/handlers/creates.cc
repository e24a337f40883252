#include "core/dispatch/handlers/creates.h"

#include <utility>

#include "core/base/units.h"
#include "core/dispatch/handlers/new_host.h"
#include "core/model/create_request.h"

namespace hostler::dispatch {

namespace {
constexpr std::size_t kSetsTold = 4;
}  // namespace

bool Creates::still_holds(const scheduler::Create& create, Now now) const {
  if (create.offering >= menu_.offerings().size()) return false;
  const auto& offering = menu_.offerings()[create.offering];
  if (create.for_class && !create.displaced && !waiting_.queue().waits(*create.for_class))
    return false;
  if (create.is_exchange && rests_.exchanges(offering.pool, now.mono)) return false;
  if (!governor_.refuses_create(offering.set, offering.pool, offering.price_per_hour, now.mono)
           .empty())
    return false;
  return !refusals_.refuses(offering, now);
}

/// Intent first: the whole request is journalled with its key, and the call leaves once that is
/// durable.
void Creates::apply(const scheduler::Create& create, Now now) {
  if (!still_holds(create, now)) return;
  const auto& offering = menu_.offerings()[create.offering];
  const auto& type = policy_.types[offering.type];
  Host intended = new_host(policy_, hosts_, recorder_, offering.set, offering.pool, now);
  intended.instance.type = offering.type;
  auto& record = intended.instance.record;
  record.type = type.name;
  record.zone = offering.zone;
  record.market = offering.market;
  record.price_per_hour = offering.price_per_hour;
  record.total = offering.resources;  // A job that fills it pays for all of it.
  record.jobs_max = model::jobs_max_of(policy_.pools[offering.pool], type);
  record.reason = create.reason;
  intended.create = make_request(offering, record);
  intended.image = intended.create->type.image_id;
  intended.made_for = MadeFor(create.load, create.is_exchange);
  if (create.is_exchange)
    rests_.exchange(offering.pool, now.mono + rest_of_exchange(policy_.pools[offering.pool]));
  Host& added = hosts_.add(std::move(intended));
  if (create.for_class && waiting_.is_gang(*create.for_class))
    hosts_.reserve(added.id(), *create.for_class);
  steps_.count(added, now);
  const std::string& cheaper = create.passed_over;
  const auto& entry =
      recorder_.record("scheduler", added.id().text(), model::Event::kCreateIntended, type.name,
                       create.reason + prices_by_set(offering) +
                           (cheaper.empty() ? "" : "; cheaper but passed over: " + cheaper),
                       now);
  plan_.decided(offering.pool, entry);
  recorder_.change(model::InstanceChanged{added.instance.record, added.create, false});
  calls_.create(added, now);
}

std::string Creates::prices_by_set(const scheduler::Offering& bought) const {
  if (policy_.pools[bought.pool].sets.size() < 2) return "";
  std::string out;
  const auto append = [&](std::uint32_t set, model::Micros price) {
    out.append(out.empty() ? "; price an hour: " : ", ")
        .append(format_money(price.value) + " in set " + policy_.sets[set].name);
  };
  append(bought.set, bought.price_per_hour);
  std::size_t told = 1;
  for (const auto& [set, price] : menu_.least_prices(bought.pool, bought.type))
    if (set != bought.set && ++told <= kSetsTold) append(set, price);
  return out;
}

std::shared_ptr<model::CreateRequest> Creates::make_request(const scheduler::Offering& offering,
                                                            model::InstanceRecord& record) const {
  const auto& set = policy_.sets[offering.set];
  const auto& pool = policy_.pools[offering.pool];
  const auto& type = policy_.types[offering.type];
  const auto& info = sets_.at(offering.set).info;
  auto out = std::make_shared<model::CreateRequest>(
      model::create_request({.site = policy_,
                             .set = set,
                             .pool = pool,
                             .type = type,
                             .info = info,
                             .place = {offering.zone, offering.subnet},
                             .image_id = images_.id_for(offering.set, offering.pool, offering.type),
                             .quota_group = sets_.quota_group(offering.set, type),
                             .host = record.id.text(),
                             .owner = recorder_.owner(),
                             .epoch = recorder_.epoch()}));
  make_secrets_(pool, set.name, info, *out, record.identity);
  model::set_key(*out, out->idempotency_key);
  record.idempotency_key = out->idempotency_key;
  return out;
}

}  // namespace hostler::dispatch
