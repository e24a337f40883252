#include "core/pricing/bill.h"

#include <algorithm>
#include <utility>

#include "core/model/policy.h"

namespace hostler::pricing {
namespace {

using model::Micros;
__extension__ using Wide = __int128;

/// whole * part / of, at least 0 and at most `whole`.
std::int64_t scaled(std::int64_t whole, std::int64_t part, std::int64_t of) {
  if (of <= 0 || part >= of) return whole;
  return static_cast<std::int64_t>(Wide{whole} * std::max<std::int64_t>(part, 0) / of);
}

}  // namespace

Micros part_of(Micros cost, const model::Resources& used, const model::Resources& total,
               std::int32_t jobs_max) {
  if (total == model::Resources{}) return cost;
  const auto part = [&](std::int64_t amount, std::int64_t of) {
    return amount == 0 ? 0 : scaled(cost.value, amount, of);
  };
  if (jobs_max <= 0) jobs_max = model::kJobsOnHostMax;
  return {std::max({scaled(cost.value, 1, jobs_max),
                    part(used.vcpus.thousandths(), total.vcpus.thousandths()),
                    part(used.gpus, total.gpus), part(used.ram, total.ram),
                    part(used.scratch, total.scratch), part(used.slots, total.slots)})};
}

Bill::Bill(Wall since, Wall until, Wall now, const std::vector<model::PriceRow>& prices)
    : since_(since), until_(std::min(until, now)), now_(now) {
  for (const auto& price : prices)
    histories_[{price.set, price.type, price.market, price.zone}].push_back(price.point);
}

void Bill::add(model::InstanceRecord instance) {
  const auto [from, to] = billed_time(instance);
  if (!instance.provider_id.empty() && from < to)
    instances_.emplace(instance.id, std::move(instance));
}

Bill::Entry Bill::of(const model::InstanceRecord& instance) const {
  const auto [from, to] = billed_time(instance);
  const std::int64_t length = to.us - from.us;
  const std::int64_t on = length - std::clamp<std::int64_t>(off_us(instance), 0, length);
  return {{scaled(cost(instance, from, to).value, on, length)}, on};
}

Bill::Entry Bill::of(model::InstanceId id, const model::Resources& needs, Wall from,
                     Wall to) const {
  const auto found = instances_.find(id);
  if (found == instances_.end()) return {};
  const auto& instance = found->second;
  const auto [begin, end] = billed_time(instance);
  from = std::max(from, begin);
  to = to.us == 0 ? end : std::min(to, end);
  if (to <= from) return {};
  return {part_of(cost(instance, from, to), needs, instance.total, instance.jobs_max),
          to.us - from.us};
}

std::pair<Wall, Wall> Bill::billed_time(const model::InstanceRecord& instance) const {
  const Wall end = instance.gone.us == 0 ? until_ : std::min(until_, instance.gone);
  return {std::max(since_, instance.created), end};
}

Micros Bill::cost(const model::InstanceRecord& instance, Wall from, Wall to) const {
  for (const std::string& zone : {instance.zone, std::string()})
    if (const auto found = histories_.find({instance.set, instance.type, instance.market, zone});
        found != histories_.end())
      return *pricing::cost(found->second, from, to);
  return pricing::cost(instance.price_per_hour, from, to);
}

std::int64_t Bill::off_us(const model::InstanceRecord& instance) const {
  const auto [from, to] = billed_time(instance);
  const bool is_off = instance.state == model::InstanceState::kStopped;
  const Wall known_until = instance.gone.us != 0 ? instance.gone
                           : is_off              ? instance.state_since
                                                 : now_;
  const Wall before = std::max(from, std::min(known_until, to));
  const std::int64_t earlier =
      scaled(instance.off_us, before.us - from.us, known_until.us - instance.created.us);
  return earlier + (is_off ? to.us - before.us : 0);
}

}  // namespace hostler::pricing
