#include "core/dispatch/handlers/creates.h"

#include <algorithm>
#include <utility>

#include "core/base/units.h"
#include "core/dispatch/handlers/new_host.h"
#include "core/model/currency.h"

namespace hostler::dispatch {

namespace {
/// Of a driver that does not say how long names may be.
constexpr std::size_t kNameMax = 63;
constexpr std::size_t kSetsTold = 4;

/// The id tells names apart, so the name of the pool is what is cut.
std::string name_hint(const std::string& pool, const std::string& id, std::size_t name_max) {
  std::string begin = "hostler-" + pool;
  const std::size_t end = id.size() + 1;
  const std::size_t most = name_max == 0 ? kNameMax : name_max;
  if (most <= end) return id.size() <= most ? id : "";
  if (begin.size() > most - end) begin.resize(most - end);
  return begin + "-" + id;
}
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
  record.reason = create.reason;
  intended.create = make_request(offering, record);
  intended.image = intended.create->type.image_id;
  intended.made_for = MadeFor(create.load, create.is_exchange);
  if (create.is_exchange)
    rests_.exchange(offering.pool, now.mono + rest_of_exchange(policy_.pools[offering.pool]));
  Host& added = hosts_.add(std::move(intended));
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
  const auto& set_policy = policy_.sets[offering.set];
  const auto& pool = policy_.pools[offering.pool];
  const auto& type = policy_.types[offering.type];
  auto out = std::make_shared<model::CreateRequest>();
  out->host_instance_id = record.id.text();
  out->owner = recorder_.owner();
  out->epoch = recorder_.epoch();
  out->type = type;
  out->type.image.reset();
  out->type.image_id = images_.id_for(offering.set, offering.pool, offering.type);
  out->type.quota_group = sets_.quota_group(offering.set, type);
  out->type.placement = {};
  out->type.jobs_max = 0;
  out->type.reserve = {};
  out->type.only_in.clear();  // It says how the type was found, and nothing of the instance.
  out->region = set_policy.region;
  out->remote_user = set_policy.remote_user;
  out->zone = offering.zone;
  out->subnet = offering.subnet;
  out->placement = model::placement_of(pool.placement, type.placement);
  out->placement.subnets.clear();
  if (const auto with_pools = pool.provider_params.find(type.name);
      with_pools != pool.provider_params.end())
    out->type.provider_params_json = with_pools->second;
  const auto& info = sets_.at(offering.set).info;
  const double rate = model::rate_of(policy_, info.currency).value_or(1);
  out->type.price_per_hour = model::from_site(type.price_per_hour, rate);
  if (offering.market == model::Market::kSpot && pool.price_cap_per_hour.value != 0)
    out->price_cap_per_hour = model::from_site(
        {std::max<std::int64_t>(
            1, pool.price_cap_per_hour.value - model::volume_price(set_policy, type).value)},
        rate);
  out->name_hint = name_hint(pool.name, record.id.text(), info.name_max);
  make_secrets_(pool, set_policy.name, info, *out, record.identity);
  record.idempotency_key = out->idempotency_key;
  out->tags = set_policy.tags;
  out->tags[model::tag::kSet] = set_policy.name;
  out->tags[model::tag::kOwner] = recorder_.owner();
  out->tags[model::tag::kPool] = pool.name;
  out->tags[model::tag::kEpoch] = std::to_string(recorder_.epoch());
  out->tags[model::tag::kKey] = out->idempotency_key;
  out->tags[model::tag::kType] = type.name;
  out->tags[model::tag::kIdle] = "run";
  return out;
}

}  // namespace hostler::dispatch
