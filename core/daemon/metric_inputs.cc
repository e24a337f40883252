#include "core/daemon/metric_inputs.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "core/base/clock.h"
#include "core/expression/expression.h"
#include "core/log/log.h"
#include "core/sources/zones.h"

namespace hostler::daemon {
namespace {

using std::chrono::hours;

constexpr Duration kZonesBefore = hours(48), kZonesAfter = hours(24 * 400);

/// What all expressions of the site use.
struct Uses {
  std::set<std::string> zones;
  Duration window{};  ///< The longest over which a metric is averaged.
};

void add(const std::string& text, const std::vector<std::string>& metrics, expression::Wants wants,
         Uses& out) {
  const auto compiled = expression::Expression::compile(text, metrics, wants);
  if (!compiled) return;  // The loop says so.
  for (const expression::Input& input : compiled->inputs()) {
    using Kind = expression::Input::Kind;
    if (input.kind == Kind::kHour || input.kind == Kind::kWeekday) out.zones.insert(input.name);
    out.window = std::max(out.window, input.window);
  }
}

Uses uses_of(const model::SitePolicy& policy) {
  Uses out;
  std::vector<std::string> metrics;
  for (const auto& metric : policy.metrics) metrics.push_back(metric.name);
  for (const auto& pool : policy.pools) {
    const auto& texts = pool.sizes.texts;
    for (const auto* text : {&texts.min, &texts.max, &texts.created_min, &texts.created_max})
      if (!text->empty()) add(*text, metrics, expression::Wants::kNumber, out);
    if (pool.scaling.drain && !pool.scaling.drain->quiet.empty())
      add(pool.scaling.drain->quiet, metrics, expression::Wants::kBoolean, out);
  }
  return out;
}

}  // namespace

MetricInputs::MetricInputs(const std::filesystem::path& state_dir, const std::string& owner,
                           std::function<void(dispatch::Event)> post)
    : post_(std::move(post)),
      samples_(state_dir / "metrics.ring", owner),
      collector_([this](model::MetricReading reading) {
        samples_.append({reading});
        post_(dispatch::MetricsRead{{std::move(reading)}});
      }) {}

void MetricInputs::begin(const config::Config& config) {
  const Uses uses = uses_of(config.site);
  if (uses.window > Duration::zero())
    post_(dispatch::PastRead{samples_.load(read_clocks().wall + -uses.window)});
  reload(config);
}

void MetricInputs::reload(const config::Config& config) {
  tell_zones(config.site);
  collector_.set_sources(config.metric_sources);
}

void MetricInputs::tell_zones(const model::SitePolicy& policy) const {
  const Wall now = read_clocks().wall;
  dispatch::ZonesRead told;
  for (const std::string& zone : uses_of(policy).zones) {
    auto times = sources::zone_times(zone, now + -kZonesBefore, now + kZonesAfter);
    if (times)
      told.zones.push_back(*std::move(times));
    else
      log::warn("metrics", times.error().message);
  }
  if (!told.zones.empty()) post_(std::move(told));
}

}  // namespace hostler::daemon
