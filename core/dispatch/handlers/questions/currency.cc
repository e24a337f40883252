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
    if (!event.result) return;
    const auto by = rate(event.set);
    if (by == 1.0) return;
    for (auto& one : *event.result) {
      if (!one->price_per_hour) continue;
      auto converted = std::make_shared<model::ListedInstance>(*one);
      instance(*converted, by);
      one = std::move(converted);
    }
  }
  void operator()(InstancesLookedUp& event) const {
    if (!event.result) return;
    const auto by = rate(event.set);
    for (auto& one : *event.result) instance(one, by);
  }
  void operator()(CreateSeen& event) const {
    if (const Host* host = state_.hosts.find(event.instance))
      instance(event.seen, rate(host->instance.record.set));
  }
  void operator()(PricesFetched& event) const {
    if (!event.result) return;
    const auto by = rate(event.set);
    if (!by) return event.result->clear();
    for (auto& one : *event.result) one.point.per_hour = model::to_site(one.point.per_hour, *by);
  }
  template <class Other>
  void operator()(Other&) const {}

 private:
  [[nodiscard]] std::optional<double> rate(const std::string& set) const {
    const auto index = state_.sets.index_of(set);
    return index ? model::rate_of(state_.policy, state_.sets.at(*index).info.currency) : 1.0;
  }
  static void instance(model::ListedInstance& seen, std::optional<double> by) {
    if (!seen.price_per_hour || by == 1.0) return;
    if (by)
      seen.price_per_hour = model::to_site(*seen.price_per_hour, *by);
    else
      seen.price_per_hour.reset();
  }

  const State& state_;
};

}  // namespace

void to_site_currency(Event& event, const State& state) { std::visit(Converter(state), event); }

}  // namespace hostler::dispatch
