#include "core/dispatch/handlers/questions/currency.h"

#include <memory>
#include <utility>
#include <variant>

#include "core/model/currency.h"

namespace hostler::dispatch {
namespace {

class Converter {
 public:
  explicit Converter(const State& state) : state_(state) {}

  void operator()(SetListed& event) const {
    if (!event.result || is_as_said(event.set)) return;
    for (auto& one : *event.result) {
      if (!one->price_per_hour) continue;
      auto converted = std::make_shared<model::ListedInstance>(*one);
      convert(*converted, event.set);
      one = std::move(converted);
    }
  }
  void operator()(InstancesLookedUp& event) const {
    if (!event.result) return;
    for (auto& one : *event.result) convert(one, event.set);
  }
  void operator()(CreateSeen& event) const {
    if (const Host* host = state_.hosts.find(event.instance))
      convert(event.seen, host->instance.record.set);
  }
  void operator()(PricesFetched& event) const {
    if (!event.result) return;
    for (auto& one : *event.result) {
      const auto price = site_price(event.set, event.type, one.point.per_hour);
      if (!price) return event.result->clear();
      one.point.per_hour = *price;
    }
  }
  template <class Other>
  void operator()(Other&) const {}

 private:
  /// The set's cloud and the site mean the same by a price.
  [[nodiscard]] bool is_as_said(const std::string& set) const {
    const auto index = state_.sets.index_of(set);
    return !index || (state_.policy.sets[*index].volume_price.value == 0 &&
                      model::rate_of(state_.policy, state_.sets.at(*index).info.currency) == 1.0);
  }
  /// With the scratch disk that each create of the type asks for; nullopt: there is no rate.
  [[nodiscard]] std::optional<model::Micros> site_price(const std::string& set,
                                                        const std::string& type,
                                                        model::Micros price) const {
    const auto index = state_.sets.index_of(set);
    if (!index) return price;
    const auto rate = model::rate_of(state_.policy, state_.sets.at(*index).info.currency);
    if (!rate) return std::nullopt;
    const auto known = state_.menu.type_index(type);
    return model::to_site(price, *rate) +
           (known ? model::volume_price(state_.policy.sets[*index], state_.policy.types[*known])
                  : model::Micros{});
  }
  void convert(model::ListedInstance& seen, const std::string& set) const {
    if (seen.price_per_hour) seen.price_per_hour = site_price(set, seen.type, *seen.price_per_hour);
  }

  const State& state_;
};

}  // namespace

void to_site_currency(Event& event, const State& state) { std::visit(Converter(state), event); }

}  // namespace hostler::dispatch
