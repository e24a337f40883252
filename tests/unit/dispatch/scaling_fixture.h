#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/dispatch/story.h"

namespace hostler::dispatch {

/// The small site, whose pool has this text as its minimum, and the metric `queue`.
inline model::SitePolicy web(const std::string& min) {
  auto site = small_site();
  auto& metric = site.metrics.emplace_back();
  metric.name = "queue";
  metric.interval = 15s;
  auto& pool = site.pools[0];
  pool.sizes.texts.min = min;
  pool.idle_timeout = 10s;
  pool.ceilings.instances_max = 20;
  return site;
}

class ScalingTest : public testing::Test {
 protected:
  void begin(model::SitePolicy site) {
    story = Story(std::move(site));
    story.begin();
  }
  /// The metric is this number now.
  void read(double value) {
    story.say(MetricsRead{{model::MetricReading{"queue", {{{}, value, story.now.wall}}, {}}}});
  }
  void fail(const std::string& why) {
    story.say(MetricsRead{{model::MetricReading{"queue", {}, why}}});
  }
  /// Reads this, and boots the hosts that it wants.
  void boot_all(double value) {
    read(value);
    for (const auto& call : creates()) hosts.push_back(call.instance);
    for (const auto id : hosts) story.boot(id);
    story.clear();
  }
  /// The daemon starts again on what is durable.
  void restart(model::SitePolicy site) {
    model::Restored rows;
    for (const auto id : hosts)
      rows.instances.push_back({.record = story.record(id), .create = nullptr});
    rows.last_instance = hosts.size();
    const Now now = story.now;
    story = Story(std::move(site));
    story.now = now;
    story.begin(std::move(rows));
    story.clear();
  }
  std::vector<CreateCall> creates() const { return story.all<CreateCall>(); }
  /// The hosts that are destroyed or switched off.
  std::vector<InstanceId> ends() const {
    std::vector<InstanceId> out;
    for (const auto& call : story.all<DestroyCall>()) out.push_back(call.instance);
    for (const auto& call : story.all<PowerCall>())
      if (!call.on) out.push_back(call.instance);
    return out;
  }
  model::PoolView pool() const { return story.dispatcher.queries().pools().at(0); }
  /// The events of the pool, in order.
  std::vector<std::string> events() const {
    std::vector<std::string> out;
    for (const auto& record : story.journalled<model::LedgerRecord>())
      if (record.subject == "pool default") out.emplace_back(to_string(record.event));
    return out;
  }

  Story story;
  std::vector<InstanceId> hosts;
};

}  // namespace hostler::dispatch
