#include "core/daemon/metric_inputs.h"

#include <chrono>
#include <utility>

#include "core/base/clock.h"
#include "core/config/expressions.h"
#include "core/dispatch/state/metrics/series.h"
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
        samples_.append({for_file(reading)});
        post_(dispatch::MetricsRead{{std::move(reading)}});
      }) {}

void MetricInputs::begin(const config::Config& config) {
  const Duration window = config::needs_of(config.site).window;
  // Also where nobody asks for the past: it says where the file goes on.
  auto past = samples_.load(read_clocks().wall + -window);
  if (window > Duration::zero()) post_(dispatch::PastRead{std::move(past)});
  reload(config);
}

/// The past has the times of readings, as has what the loop remembers: a source that says its times
/// seldom has no gaps. So what is too old when it is read, and counts in no average, is left out.
model::MetricReading MetricInputs::for_file(model::MetricReading reading) {
  const Wall now = read_clocks().wall;
  const MutexLock lock(mutex_);
  const auto found = policies_.find(reading.metric);
  if (found == policies_.end()) {
    reading.samples.clear();
    return reading;
  }
  const model::MetricPolicy& policy = found->second;
  std::erase_if(reading.samples, [&](const model::MetricSample& sample) {
    return dispatch::judge_age(sample.taken, policy, now).flaw != dispatch::MetricFlaw::kNone;
  });
  for (auto& sample : reading.samples) sample.taken = now;
  return reading;
}

void MetricInputs::reload(const config::Config& config) {
  tell_zones(config.site);
  {
    const MutexLock lock(mutex_);
    policies_.clear();
    for (const auto& policy : config.site.metrics) policies_.emplace(policy.name, policy);
  }
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
