#include "core/daemon/metric_inputs.h"

#include <chrono>
#include <utility>

#include "core/base/clock.h"
#include "core/config/expressions.h"
#include "core/log/log.h"
#include "core/sources/zones.h"

namespace hostler::daemon {
namespace {

using std::chrono::hours;

constexpr Duration kZonesBefore = hours(48), kZonesAfter = hours(24 * 400);

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
  const Duration window = config::needs_of(config.site).window;
  if (window > Duration::zero())
    post_(dispatch::PastRead{samples_.load(read_clocks().wall + -window)});
  reload(config);
}

void MetricInputs::reload(const config::Config& config) {
  tell_zones(config.site);
  collector_.set_sources(config.metric_sources);
}

void MetricInputs::tell_zones(const model::SitePolicy& policy) const {
  const Wall now = read_clocks().wall;
  dispatch::ZonesRead told;
  for (const std::string& zone : config::needs_of(policy).zones) {
    auto times = sources::zone_times(zone, now + -kZonesBefore, now + kZonesAfter);
    if (times)
      told.zones.push_back(*std::move(times));
    else
      log::warn("metrics", times.error().message);
  }
  if (!told.zones.empty()) post_(std::move(told));
}

}  // namespace hostler::daemon
