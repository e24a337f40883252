#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <map>
#include <string>

#include "core/base/mutex.h"
#include "core/metrics/metrics.h"
#include "core/metrics/names.h"

/// All metric families of the daemon. Private to core/metrics.
namespace hostler::metrics {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Labels;
using Buckets = Histogram::BucketBoundaries;

// A host of the local driver boots in a tenth of a second, a host of a cloud in minutes.
inline Buckets boot_buckets() { return {0.1, 0.3, 1, 3, 10, 20, 30, 60, 120, 300, 600, 1800}; }
inline Buckets call_buckets() { return {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60}; }
inline Buckets work_buckets() { return {1e-6, 1e-5, 1e-4, 3e-4, 0.001, 0.003, 0.01, 0.1, 1}; }
inline Buckets commit_buckets() { return {1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 1, 10}; }
inline Buckets wait_buckets() { return {0.01, 0.1, 1, 10, 30, 60, 300, 900, 3600, 14400, 86400}; }

/// A family of gauges whose series are always replaced together.
class Snapshot {
 public:
  Snapshot(prometheus::Registry& registry, const char* name, const char* help)
      : family_(prometheus::BuildGauge().Name(name).Help(help).Register(registry)) {}

  /// Sets the series to `values` and removes all others. Any thread.
  void replace(const std::map<Labels, double>& values) {
    const MutexLock lock(mutex_);  // a gauge must not be removed while another thread sets it
    std::erase_if(shown_, [&](const auto& entry) {
      if (values.contains(entry.second)) return false;
      family_.Remove(entry.first);
      return true;
    });
    for (const auto& [labels, value] : values) {
      Gauge& gauge = family_.Add(labels);
      gauge.Set(value);
      shown_.emplace(&gauge, labels);
    }
  }

 private:
  Family<Gauge>& family_;
  Mutex mutex_;
  std::map<Gauge*, Labels> shown_ HOSTLER_GUARDED_BY(mutex_);
};

/// All metrics, one member each: they are registered together, and nothing else is here.
struct Metrics::Families {
  prometheus::Registry registry;

  Family<Counter>& counters(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Counter& counter(const char* name, const char* help) { return counters(name, help).Add({}); }
  Family<Gauge>& gauges(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  Gauge& gauge(const char* name, const char* help) { return gauges(name, help).Add({}); }
  Family<Histogram>& histograms(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }
  Histogram& histogram(const char* name, const char* help, const Buckets& buckets) {
    return histograms(name, help).Add({}, buckets);
  }

  /// How metrics are read that expressions use; readings are counted since the start.
  void set_metrics(const std::vector<model::MetricStatus>& used) {
    std::map<Labels, double> known, ages;
    for (const auto& metric : used) {
      known[{{"metric", metric.name}}] = metric.known ? 1 : 0;
      if (metric.age)
        ages[{{"metric", metric.name}}] = std::chrono::duration<double>(*metric.age).count();
      for (const auto& [outcome, count] : metric.readings) {
        Counter& counter = metric_readings.Add({{"metric", metric.name}, {"outcome", outcome}});
        counter.Increment(static_cast<double>(count) - counter.Value());
      }
    }
    metric_known.replace(known);
    metric_age.replace(ages);
  }

  // Jobs.
  Family<Gauge>& jobs = gauges("hostler_jobs", "Jobs that have not ended, by state.");
  Snapshot waiting{registry, "hostler_jobs_waiting", "Jobs and leases that wait, by the reason."};
  Gauge& queue_age =
      gauge("hostler_queue_age_seconds", "How long the oldest waiting job or lease has waited.");
  Counter& submitted = counter("hostler_jobs_submitted_total", "Jobs that were submitted.");
  Counter& attempts =
      counter("hostler_attempts_started_total", "Attempts whose start was decided.");
  Family<Counter>& ended = counters("hostler_jobs_ended_total", "Jobs that ended.");
  Histogram& waited =
      histogram("hostler_job_wait_seconds", "Time from the submit of a job to its first start.",
                wait_buckets());
  Histogram& ran = histogram("hostler_job_run_seconds", "How long the last attempt of a job ran.",
                             wait_buckets());
  Counter& output =
      counter("hostler_output_bytes_total", "Bytes of job output received from hosts.");

  // Leases.
  Family<Gauge>& leases = gauges("hostler_leases", "Leases that have not ended, by state.");
  Counter& leases_submitted =
      counter("hostler_leases_submitted_total", "Leases that were submitted.");
  Family<Counter>& leases_ended = counters("hostler_leases_ended_total", "Leases that ended.");
  Family<Counter>& gangs = counters("hostler_gangs_total", "What became of gangs of leases.");
  Histogram& lease_waited =
      histogram("hostler_lease_wait_seconds", "Time from the submit of a lease to its grant.",
                wait_buckets());

  // Instances and hosts.
  Snapshot instances{registry, "hostler_instances", "Instances, by instance set, type and state."};
  Snapshot hosts{registry, "hostler_hosts",
                 "Idle and busy hosts, by health; healthy hosts are connected."};
  Snapshot cards{registry, "hostler_cards", "Cards (GPUs) of hosts, by pool and state."};
  Snapshot pool{registry, "hostler_pool_instances",
                "Instances of a pool that are not switched off."};
  Snapshot pool_max{registry, "hostler_pool_instances_max",
                    "Maximum number of instances of a pool."};
  Snapshot bound{registry, "hostler_pool_bound",
                 "Bounds of a pool as plans go by them, by the bound."};
  Snapshot bound_known{registry, "hostler_pool_bound_known",
                       "Of bounds that are expressions: 1: it gives a number, 0: it is unknown."};
  Snapshot pushed_age{registry, "hostler_pushed_age_seconds",
                      "Age of the last push of the scheduler of a pool."};
  Snapshot pushed_tasks{registry, "hostler_pushed_tasks",
                        "Pushed tasks that wait for hosts of a pool, and fit."};
  Snapshot pushed_going{registry, "hostler_pushed_going",
                        "Hosts of a pool that its scheduler is to leave."};
  Snapshot metric_known{registry, "hostler_metric_known",
                        "1: the last reading of the metric was good, and is not too old."};
  Snapshot metric_age{registry, "hostler_metric_age_seconds",
                      "Age of the oldest sample of the last reading of a metric."};
  Family<Counter>& metric_readings =
      counters("hostler_metric_readings_total", "Readings of metrics, by how they ended.");
  Snapshot price{registry, "hostler_price_per_hour",
                 "Cost of the instances per hour, in the currency of the site."};
  Gauge& price_max = gauge("hostler_price_per_hour_max",
                           "Ceiling for the cost of all instances per hour; 0: none.");
  Family<Counter>& boots = counters("hostler_boots_total",
                                    "Instances that were requested, by the result of their boot.");
  Family<Histogram>& reached = histograms(
      "hostler_boot_milestone_seconds", "Time from the request for an instance to its milestones.");
  Family<Counter>& verifications = counters("hostler_host_verifications_total",
                                            "Host verifications, by deciding method and outcome.");
  Family<Counter>& host_events =
      counters("hostler_host_events_total", "Events of the links to hosts.");
  Family<Counter>& alarms =
      counters("hostler_alarms_total", "Events that an admin has to look at.");

  // Clouds.
  Snapshot open{registry, "hostler_set_open", "1: the driver of the set is open and can be used."};
  Snapshot foreign{registry, "hostler_set_foreign_owner",
                   "1: the set has instances of another daemon."};
  Snapshot gates{registry, "hostler_gates_shut",
                 "Gates that are shut: refusals of a cloud that hold back calls now."};
  Snapshot leftovers{registry, "hostler_leftovers",
                     "Things with our tags that outlived their instances, by state."};
  Family<Counter>& calls = counters("hostler_driver_calls_total", "Driver calls by result.");
  Family<Histogram>& call_time =
      histograms("hostler_driver_call_seconds", "How long driver calls took.");

  // The daemon.
  Family<Gauge>& build = gauges("hostler_build_info", "1; the version is in the label.");
  Gauge& loop_events = gauge("hostler_loop_events_waiting", "Events that wait for the loop.");
  Gauge& loop_lag = gauge("hostler_loop_lag_seconds",
                          "How long the last query of the state waited for the loop.");
  Family<Histogram>& work_family =
      histograms("hostler_loop_event_seconds", "How long the loop took for one event.");
  std::array<Histogram*, std::size(kLoopWork)> work{};  ///< Index: LoopWork.
  Histogram& plans =
      histogram("hostler_plan_seconds", "How long it took to make a plan.", work_buckets());
  Family<Counter>& planned = counters("hostler_plan_actions_total", "Actions in plans.");
  Family<Histogram>& commits =
      histograms("hostler_store_commit_seconds", "Time until changes were durable.");
  Family<Histogram>& tries = histograms("hostler_store_transaction_seconds",
                                        "Duration of one try to write a group of changes.");
  Counter& changes = counter("hostler_store_changes_total", "Changes that became durable.");
  Gauge& store_up = gauge("hostler_store_up", "1: the last try to commit succeeded.");
  Gauge& reload_refused = gauge("hostler_config_reload_refused",
                                "1: the last reload of the configuration was refused.");
  Gauge& output_up = gauge("hostler_output_up", "1: the output of jobs can be stored.");
  Gauge& commits_waiting =
      gauge("hostler_store_commits_waiting", "Commits that are not durable yet.");
  Gauge& disk_full = gauge("hostler_state_disk_full",
                           "1: the disk of the state folder is full; only the database writes.");
  Gauge& certificate = gauge("hostler_tls_certificate_expires_seconds",
                             "Seconds until the TLS certificate of the API expires; +Inf: no TLS.");
  Gauge& disk = gauge("hostler_state_disk_bytes", "Size of the state folder's file system.");
  Gauge& disk_free = gauge("hostler_state_disk_free_bytes",
                           "Free bytes of that file system that the daemon may use.");
  Family<Counter>& requests =
      counters("hostler_api_requests_total", "Answers to well-formed requests.");
  Family<Histogram>& request_time =
      histograms("hostler_api_request_seconds", "Time from the end of a request to its answer.");
  Gauge& streams = gauge("hostler_api_streams", "Open event streams.");
};

}  // namespace hostler::metrics
