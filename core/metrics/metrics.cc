#include "core/metrics/metrics.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/metrics/families.h"
#include "core/metrics/process.h"
#include "core/model/lease.h"

namespace hostler::metrics {
namespace {

using Values = std::map<Labels, double>;

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
double number(std::size_t count) { return static_cast<double>(count); }
double money(model::Micros amount) { return static_cast<double>(amount.value) / 1e6; }
const char* result_of(bool succeeded) { return succeeded ? "ok" : "failed"; }

template <class Families>
void set_pushed(Families& families, const std::vector<PoolStatus>& pools) {
  Values ages, tasks, going;
  for (const PoolStatus& p : pools) {
    if (!p.pushed) continue;
    const prometheus::Labels labels{{"pool", p.pool}};
    if (p.pushed->age) ages[labels] = std::chrono::duration<double>(*p.pushed->age).count();
    tasks[labels] = static_cast<double>(p.pushed->tasks);
    going[labels] = number(p.pushed->going);
  }
  families.pushed_age.replace(ages);
  families.pushed_tasks.replace(tasks);
  families.pushed_going.replace(going);
}

}  // namespace

Metrics::Metrics(std::string version) : families_(std::make_unique<Families>()) {
  Families& f = *families_;
  f.certificate.Set(std::numeric_limits<double>::infinity());
  f.build.Add({{"version", std::move(version)}}).Set(1);
  for (std::size_t i = 0; i < f.work.size(); ++i)
    f.work[i] = &f.work_family.Add({{"kind", kLoopWork[i]}}, work_buckets());
  for (const auto state : model::kLiveStates)
    for (const auto kind : {model::WorkKind::kJob, model::WorkKind::kLease})
      set_work(kind, state, 0);
  // A rate needs two samples: these series exist before the first event.
  using enum model::EndReason;
  for (const auto reason :
       {kReturned, kTerm, kCancelled, kWaitMax, kHostLost, kInterrupted, kStartFailures})
    f.leases_ended.Add({{"reason", model::to_string(reason)}});
  for (const auto& event : model::all_events())
    if (event.severity == model::Severity::kAlarm) f.alarms.Add({{"event", event.code}});
  for (const char* result : {"granted", "let_go", "refused"}) gangs(result, 0);
  for (const bool succeeded : {true, false})
    f.tries.Add({{"result", result_of(succeeded)}}, commit_buckets());
}

Metrics::~Metrics() = default;

void Metrics::set_instances(const std::vector<InstanceCount>& counts) {
  Values values;
  for (const InstanceCount& c : counts)
    values[{{"set", c.set}, {"type", c.type}, {"state", model::to_string(c.state)}}] +=
        number(c.count);
  families_->instances.replace(values);
}

void Metrics::set_hosts(const std::vector<HostCount>& counts, const std::vector<CardCount>& cards) {
  Values values;
  for (const HostCount& c : counts)
    values[{{"set", c.set}, {"health", model::to_string(c.health)}}] += number(c.count);
  families_->hosts.replace(values);
  Values of_cards;
  for (const CardCount& c : cards)
    of_cards[{{"pool", c.pool}, {"state", model::to_string(c.state)}}] += number(c.count);
  families_->cards.replace(of_cards);
}

void Metrics::set_prices(const std::vector<PriceSum>& sums) {
  Values values;
  for (const PriceSum& s : sums) values[{{"set", s.set}}] += money(s.per_hour);
  families_->price.replace(values);
}

void Metrics::set_gates(const std::vector<GateCount>& counts) {
  Values values;
  for (const GateCount& c : counts)
    values[{{"set", c.set}, {"class", model::to_string(c.cls)}}] += number(c.count);
  families_->gates.replace(values);
}

void Metrics::set_sets(const std::vector<SetStatus>& sets) {
  Values open;
  Values foreign;
  for (const SetStatus& s : sets) {
    open[{{"set", s.set}}] = s.open ? 1 : 0;
    foreign[{{"set", s.set}}] = s.foreign_owner ? 1 : 0;
  }
  families_->open.replace(open);
  families_->foreign.replace(foreign);
}

void Metrics::set_leftovers(const std::vector<LeftoverCount>& counts) {
  Values values;
  for (const LeftoverCount& c : counts) {
    values[{{"set", c.set}, {"state", "found"}}] = number(c.found);
    values[{{"set", c.set}, {"state", "confirmed"}}] = number(c.confirmed);
    values[{{"set", c.set}, {"state", "destroying"}}] = number(c.destroying);
  }
  families_->leftovers.replace(values);
}

void Metrics::set_pools(const std::vector<PoolStatus>& pools,
                        const std::vector<model::MetricStatus>& used) {
  Values now;
  Values most;
  for (const PoolStatus& p : pools) {
    now[{{"pool", p.pool}}] = number(p.instances);
    most[{{"pool", p.pool}}] = number(p.instances_max);
  }
  families_->pool.replace(now);
  families_->pool_max.replace(most);
  Values bounds;
  Values known;
  for (const PoolStatus& p : pools)
    for (const PoolStatus::Bound& bound : p.bounds) {
      const prometheus::Labels labels{{"pool", p.pool}, {"bound", bound.name}};
      bounds[labels] = static_cast<double>(bound.number);
      if (bound.is_known) known[labels] = *bound.is_known ? 1 : 0;
    }
  families_->bound.replace(bounds);
  families_->bound_known.replace(known);
  families_->set_metrics(used);
  set_pushed(*families_, pools);
}

void Metrics::set_waiting(const std::map<model::WaitingCode, std::uint64_t>& jobs) {
  // A series that is absent while its value is 0 hides the start of an alert.
  Values values;
  for (const auto& reason : model::all_waiting_codes()) values[{{"reason", reason.code}}] = 0;
  for (const auto& [reason, count] : jobs)
    values[{{"reason", to_string(reason)}}] = static_cast<double>(count);
  families_->waiting.replace(values);
}

void Metrics::set_work(model::WorkKind kind, model::WorkState state, std::size_t count) {
  const bool is_lease = kind == model::WorkKind::kLease;
  const char* word = is_lease ? model::lease_state(state) : model::to_string(state);
  (is_lease ? families_->leases : families_->jobs).Add({{"state", word}}).Set(number(count));
}

void Metrics::set_queue_age(Duration oldest) { families_->queue_age.Set(seconds(oldest)); }

void Metrics::set_price_max(model::Micros per_hour) { families_->price_max.Set(money(per_hour)); }

void Metrics::set_loop(std::size_t events, Duration lag) {
  families_->loop_events.Set(number(events));
  families_->loop_lag.Set(seconds(lag));
}

void Metrics::set_store(const StoreStatus& status) {
  families_->store_up.Set(status.commits ? 1 : 0);
  families_->output_up.Set(status.takes_output ? 1 : 0);
  families_->disk_full.Set(status.disk_full ? 1 : 0);
  families_->commits_waiting.Set(number(status.waiting));
  families_->disk.Set(static_cast<double>(status.disk_bytes));
  families_->disk_free.Set(static_cast<double>(status.disk_free_bytes));
}

void Metrics::set_certificate(Duration left) { families_->certificate.Set(seconds(left)); }
void Metrics::set_reload_refused(bool refused) { families_->reload_refused.Set(refused ? 1 : 0); }

void Metrics::work_submitted(model::WorkKind kind) {
  const bool is_lease = kind == model::WorkKind::kLease;
  (is_lease ? families_->leases_submitted : families_->submitted).Increment();
}

void Metrics::work_waited(model::WorkKind kind, Duration time) {
  const bool is_lease = kind == model::WorkKind::kLease;
  (is_lease ? families_->lease_waited : families_->waited).Observe(seconds(time));
}

void Metrics::attempt_started() { families_->attempts.Increment(); }

void Metrics::job_ended(model::WorkState state, model::EndReason reason,
                        std::optional<Duration> ran) {
  const std::string why = model::to_string(reason);
  families_->ended.Add({{"state", model::to_string(state)}, {"reason", why.empty() ? "none" : why}})
      .Increment();
  if (ran) families_->ran.Observe(seconds(*ran));
}

void Metrics::lease_ended(model::EndReason reason) {
  families_->leases_ended.Add({{"reason", model::to_string(reason)}}).Increment();
}

void Metrics::gangs(std::string_view result, std::uint64_t count) {
  families_->gangs.Add({{"result", std::string(result)}}).Increment(static_cast<double>(count));
}

void Metrics::output_came(std::size_t bytes) { families_->output.Increment(number(bytes)); }

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

void Metrics::host_event(std::string_view event) {
  families_->host_events.Add({{"event", std::string(event)}}).Increment();
}

void Metrics::alarm(model::Event event) {
  families_->alarms.Add({{"event", to_string(event)}}).Increment();
}

void Metrics::loop_work(LoopWork kind, Duration took) {
  families_->work.at(static_cast<std::size_t>(kind))->Observe(seconds(took));
}

void Metrics::plan_made(Duration took) { families_->plans.Observe(seconds(took)); }

void Metrics::planned(std::string_view action, std::size_t count) {
  families_->planned.Add({{"action", std::string(action)}}).Increment(number(count));
}

void Metrics::store_commit(Duration took, bool succeeded) {
  families_->commits.Add({{"result", result_of(succeeded)}}, commit_buckets())
      .Observe(seconds(took));
}

void Metrics::store_try(Duration took, std::size_t changes, bool succeeded) {
  families_->tries.Add({{"result", result_of(succeeded)}}, commit_buckets()).Observe(seconds(took));
  if (succeeded) families_->changes.Increment(number(changes));
}

void Metrics::request_answered(std::string_view method, std::string_view route, unsigned status,
                               Duration took) {
  const Labels labels{{"method", std::string(method)}, {"route", std::string(route)}};
  Labels with_status = labels;
  with_status["status"] = std::to_string(status);
  families_->requests.Add(with_status).Increment();
  families_->request_time.Add(labels, call_buckets()).Observe(seconds(took));
}

void Metrics::streams_changed(int by) { families_->streams.Increment(by); }

std::string Metrics::text() const {
  std::vector<prometheus::MetricFamily> families = families_->registry.Collect();
  std::ranges::move(process_families(), std::back_inserter(families));
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
