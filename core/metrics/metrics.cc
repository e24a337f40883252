#include "core/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

namespace hostler::metrics {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Labels;
using Buckets = Histogram::BucketBoundaries;

const char* to_string(Milestone milestone) {
  switch (milestone) {
    case Milestone::kSsh:
      return "ssh";
    case Milestone::kVerified:
      return "verified";
    case Milestone::kReady:
      return "ready";
    case Milestone::kFirstJob:
      return "first_job";
  }
  return "?";
}

const char* to_string(BootOutcome outcome) {
  switch (outcome) {
    case BootOutcome::kReady:
      return "ready";
    case BootOutcome::kRefused:
      return "refused";
    case BootOutcome::kFailed:
      return "failed";
    case BootOutcome::kTimeout:
      return "timeout";
    case BootOutcome::kUnwanted:
      return "unwanted";
  }
  return "?";
}

const char* to_string(VerifyOutcome outcome) {
  switch (outcome) {
    case VerifyOutcome::kProved:
      return "proved";
    case VerifyOutcome::kNotYet:
      return "not_yet";
    case VerifyOutcome::kKeyAlarm:
      return "key_alarm";
  }
  return "?";
}

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

// A local host is up in a tenth of a second, a cloud's in minutes.
Buckets boot_buckets() { return {0.1, 0.3, 1, 3, 10, 20, 30, 60, 120, 300, 600, 1800}; }
Buckets call_buckets() { return {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60}; }
Buckets event_buckets() { return {1e-6, 1e-5, 1e-4, 3e-4, 0.001, 0.003, 0.01, 0.1, 1}; }
Buckets commit_buckets() { return {1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 1, 10}; }

template <class Builder>
auto& family(prometheus::Registry& registry, Builder builder, const char* name, const char* help) {
  return builder.Name(name).Help(help).Register(registry);
}

}  // namespace

/// Series come and go with replace(); those of counters and histograms stay, as they must.
struct Metrics::Families {
  prometheus::Registry registry;

  Family<Gauge>& instances = family(registry, prometheus::BuildGauge(), "hostler_instances",
                                    "Instances by instance set, menu type and state.");
  Family<Gauge>& price = family(registry, prometheus::BuildGauge(), "hostler_price_per_hour",
                                "What the instances cost per hour, in the site's currency.");
  Family<Gauge>& gates = family(registry, prometheus::BuildGauge(), "hostler_gates_shut",
                                "Remembered refusals of a cloud that hold back calls now.");
  Family<Gauge>& jobs = family(registry, prometheus::BuildGauge(), "hostler_jobs",
                               "Jobs that have not ended, by state.");
  Gauge& queue_age = family(registry, prometheus::BuildGauge(), "hostler_queue_age_seconds",
                            "How long the oldest waiting job has waited.")
                         .Add({});
  Family<Counter>& boots = family(registry, prometheus::BuildCounter(), "hostler_boots_total",
                                  "Instances that were asked for, by how their boot ended.");
  Family<Histogram>& reached =
      family(registry, prometheus::BuildHistogram(), "hostler_boot_milestone_seconds",
             "From the wish for an instance to its milestones.");
  Family<Counter>& calls = family(registry, prometheus::BuildCounter(),
                                  "hostler_driver_calls_total", "Driver calls by result.");
  Family<Histogram>& call_time =
      family(registry, prometheus::BuildHistogram(), "hostler_driver_call_seconds",
             "How long driver calls took.");
  Family<Counter>& verifications =
      family(registry, prometheus::BuildCounter(), "hostler_host_verifications_total",
             "Host verifications by the method that decided and outcome.");
  Family<Histogram>& events =
      family(registry, prometheus::BuildHistogram(), "hostler_loop_event_seconds",
             "How long the loop took for one event.");
  Family<Histogram>& commits =
      family(registry, prometheus::BuildHistogram(), "hostler_store_commit_seconds",
             "How long the store took to make a group durable.");

  std::mutex replacing;  ///< One replace() at a time: a gauge may not be removed while it is set.

  /// Makes the series of `gauges` exactly those of `values`.
  void replace(Family<Gauge>& gauges, std::map<Gauge*, Labels>& shown,
               const std::map<Labels, double>& values) {
    const std::lock_guard lock(replacing);
    std::erase_if(shown, [&](const auto& entry) {
      if (values.contains(entry.second)) return false;
      gauges.Remove(entry.first);
      return true;
    });
    for (const auto& [labels, value] : values) {
      Gauge& gauge = gauges.Add(labels);
      gauge.Set(value);
      shown.emplace(&gauge, labels);
    }
  }
  std::map<Gauge*, Labels> shown_instances, shown_prices, shown_gates;
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {
  set_queue_age({});
  for (const auto state : {model::JobState::kQueued, model::JobState::kStarting,
                           model::JobState::kRunning, model::JobState::kCollecting})
    set_jobs(state, 0);
}

Metrics::~Metrics() = default;

void Metrics::set_instances(const std::vector<InstanceCount>& counts) {
  std::map<Labels, double> values;
  for (const InstanceCount& c : counts)
    values[{{"set", c.set}, {"type", c.type}, {"state", model::to_string(c.state)}}] +=
        static_cast<double>(c.count);
  families_->replace(families_->instances, families_->shown_instances, values);
}

void Metrics::set_prices(const std::vector<PriceSum>& sums) {
  std::map<Labels, double> values;
  for (const PriceSum& s : sums)
    values[{{"set", s.set}}] += static_cast<double>(s.per_hour.value) / 1e6;
  families_->replace(families_->price, families_->shown_prices, values);
}

void Metrics::set_gates(const std::vector<GateCount>& counts) {
  std::map<Labels, double> values;
  for (const GateCount& c : counts)
    values[{{"set", c.set}, {"class", model::to_string(c.cls)}}] += static_cast<double>(c.count);
  families_->replace(families_->gates, families_->shown_gates, values);
}

void Metrics::set_jobs(model::JobState state, std::size_t count) {
  families_->jobs.Add({{"state", model::to_string(state)}}).Set(static_cast<double>(count));
}

void Metrics::set_queue_age(Duration oldest) { families_->queue_age.Set(seconds(oldest)); }

void Metrics::boot_ended(std::string_view set, std::string_view type, BootOutcome outcome) {
  families_->boots
      .Add(
          {{"set", std::string(set)}, {"type", std::string(type)}, {"outcome", to_string(outcome)}})
      .Increment();
}

void Metrics::host_reached(std::string_view set, Milestone milestone, Duration since_request) {
  families_->reached
      .Add({{"set", std::string(set)}, {"milestone", to_string(milestone)}}, boot_buckets())
      .Observe(seconds(since_request));
}

void Metrics::driver_call(std::string_view set, model::CloudOp op,
                          std::optional<model::CloudErrorClass> error, Duration took) {
  const Labels labels{{"set", std::string(set)}, {"operation", model::to_string(op)}};
  Labels with_result = labels;
  with_result["result"] = error ? model::to_string(*error) : "ok";
  families_->calls.Add(with_result).Increment();
  families_->call_time.Add(labels, call_buckets()).Observe(seconds(took));
}

void Metrics::verification(std::optional<model::VerifyMethod> method, VerifyOutcome outcome) {
  families_->verifications
      .Add({{"method", method ? model::to_string(*method) : "none"},
            {"outcome", to_string(outcome)}})
      .Increment();
}

void Metrics::loop_event(std::string_view kind, Duration took) {
  families_->events.Add({{"kind", std::string(kind)}}, event_buckets()).Observe(seconds(took));
}

void Metrics::store_commit(Duration took, bool succeeded) {
  families_->commits.Add({{"result", succeeded ? "ok" : "failed"}}, commit_buckets())
      .Observe(seconds(took));
}

std::string Metrics::text() const {
  std::vector<prometheus::MetricFamily> families = families_->registry.Collect();
  for (prometheus::MetricFamily& f : families)
    std::ranges::sort(f.metric, [](const auto& a, const auto& b) {
      return std::ranges::lexicographical_compare(
          a.label, b.label, [](const auto& x, const auto& y) {
            return std::tie(x.name, x.value) < std::tie(y.name, y.value);
          });
    });
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace hostler::metrics
