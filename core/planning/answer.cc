#include "core/planning/answer.h"

#include <algorithm>
#include <utility>

#include "core/base/units.h"
#include "core/model/reason.h"
#include "core/planning/read.h"
#include "core/planning/words.h"
#include "core/planning/writers.h"

namespace hostler::planning {
namespace {

using scheduler::Plan;

/// What is bought: the same members wherever an answer names an offering.
void write_offer(json::Writer& w, const Question& question, std::uint32_t index) {
  if (index >= question.snapshot.offerings.size()) return;
  const auto& o = question.snapshot.offerings[index];
  w.member("pool", question.policy.pools[o.pool].name);
  w.member("set", question.policy.sets[o.set].name);
  w.member("type", question.policy.types[o.type].name);
  write_text(w, "zone", o.zone);
  write_text(w, "subnet", o.subnet);
  w.member("market", word_of(o.market, kMarkets));
  w.key("price_per_hour").millionths(o.price_per_hour.value);
}

void write_load(json::Writer& w, const std::vector<demand::Load>& loads) {
  w.key("load").begin_array();
  for (const auto& load : loads)
    w.begin_object().member("work", text_of(load.cls)).member("count", load.count).end_object();
  w.end_array();
}

json::Writer& begin_action(json::Writer& w, const char* action) {
  return w.begin_object().member("action", action);
}

bool are_alike(const scheduler::Create& a, const scheduler::Create& b) {
  return a.offering == b.offering && a.for_class == b.for_class && a.load == b.load &&
         a.reason == b.reason && a.passed_over == b.passed_over && a.displaced == b.displaced &&
         a.is_exchange == b.is_exchange;
}

/// Equal creates in a row are one action with a count.
void write_creates(json::Writer& w, const Question& question, const Plan& plan) {
  for (std::size_t i = 0, next = 0; i < plan.creates.size(); i = next) {
    const auto& create = plan.creates[i];
    for (next = i + 1; next < plan.creates.size() && are_alike(create, plan.creates[next]);) ++next;
    begin_action(w, "create").member("count", next - i);
    write_offer(w, question, create.offering);
    if (create.for_class) w.member("work", text_of(*create.for_class));
    write_load(w, create.load);
    w.member("reason", create.reason);
    write_text(w, "passed_over", create.passed_over);
    if (create.is_exchange) w.member("exchange", true);
    w.end_object();
  }
}

void write_actions(json::Writer& w, const Question& question, const Plan& plan) {
  w.key("actions").begin_array();
  for (const auto& one : plan.closed)
    begin_action(w, "close")
        .member("host", one.host.text())
        .member("code", scheduler::to_string(one.why))
        .end_object();
  for (const auto& one : plan.places)
    begin_action(w, "place")
        .member("host", one.host.text())
        .member("work", text_of(one.cls))
        .member("count", one.count)
        .end_object();
  for (const auto& one : plan.shutdowns)
    begin_action(w, "shut_down")
        .member("host", one.host.text())
        .member("code", model::to_string(one.code))
        .member("reason", one.reason)
        .end_object();
  for (const auto& one : plan.reservations)
    begin_action(w, "reserve")
        .member("host", one.host.text())
        .member("work", text_of(one.cls))
        .end_object();
  for (const auto& one : plan.wakes) {
    begin_action(w, "wake").member("host", one.host.text());
    write_load(w, one.load);
    w.member("reason", one.reason).end_object();
  }
  for (const auto& one : plan.switch_offs)
    begin_action(w, "switch_off")
        .member("host", one.host.text())
        .member("code", model::to_string(one.code))
        .member("reason", one.reason)
        .end_object();
  for (const auto& one : plan.drains)
    begin_action(w, "drain")
        .member("host", one.host.text())
        .member("reason", one.reason)
        .end_object();
  write_creates(w, question, plan);
  w.end_array();
}

/// Hosts of which outside schedulers are told that they are to go.
void write_going(json::Writer& w, const Question& question, const Plan& plan) {
  const auto is_pushed = [](const model::PoolPolicy& pool) { return pool.pushed.has_value(); };
  if (std::ranges::none_of(question.policy.pools, is_pushed)) return;
  w.key("going").begin_array();
  for (const auto& one : plan.going)
    w.begin_object().member("host", one.host.text()).member("reason", one.reason).end_object();
  w.end_array();
}

void write_because(json::Writer& w, model::WaitingCode code, const std::string& reason) {
  w.begin_object().member("code", model::to_string(code)).member("reason", reason).end_object();
}

/// "starts": all of it; "host_coming": for the rest hosts come; "waits": not for all.
const char* status_of(const std::vector<Fate>& fates) {
  const auto is = [](Outcome outcome) {
    return [outcome](const Fate& fate) { return fate.outcome == outcome; };
  };
  if (std::ranges::any_of(fates, is(Outcome::kWaits))) return "waits";
  return std::ranges::all_of(fates, is(Outcome::kHostReady)) ? "starts" : "host_coming";
}

void write_counts(json::Writer& w, const std::vector<Fate>& fates) {
  for (const auto outcome : {Outcome::kHostReady, Outcome::kHostComing, Outcome::kHostWoken,
                             Outcome::kHostCreated, Outcome::kWaits}) {
    std::uint64_t sum = 0;
    for (const Fate& fate : fates) sum += fate.outcome == outcome ? fate.count : 0;
    w.member(to_string(outcome), sum);
  }
}

/// Calls `write` for those of the class.
template <class T, class Write>
void write_of_class(const std::vector<const T*>& sorted, demand::ClassId cls, Write write) {
  const auto first =
      std::ranges::lower_bound(sorted, cls, {}, [](const T* one) { return one->cls; });
  for (auto at = first; at != sorted.end() && (*at)->cls == cls; ++at) write(**at);
}

template <class T>
std::vector<const T*> by_class(const std::vector<T>& all) {
  std::vector<const T*> out;
  for (const T& one : all) out.push_back(&one);
  std::ranges::stable_sort(out, {}, [](const T* one) { return one->cls; });
  return out;
}

void write_work_status(json::Writer& w, const Question& question, const Plan& plan) {
  const auto fates = fates_of(question.snapshot, plan);
  const auto waiting = by_class(plan.waiting);
  const auto rejected = by_class(plan.rejected);
  std::set<demand::ClassId> told;
  w.key("work").begin_array();
  for (const auto& view : question.snapshot.classes) {
    if (!told.insert(view.id).second) continue;
    const auto& its = fates.at(view.id);
    w.begin_object().member("id", text_of(view.id)).member("kind", word_of(view.kind, kKinds));
    w.key("needs").begin_object();
    write_resources(w, view.shape.needs, view.shape.constraints.gpu);
    write_slots(w, view.shape.needs, 0);
    w.end_object().member("priority", view.shape.priority);
    write_constraints(w, view.shape.constraints);
    if (view.shape.exclusive) w.member("exclusive", true);
    w.member("status", status_of(its));
    write_counts(w, its);
    w.key("waiting_because").begin_array();
    write_of_class(waiting, view.id, [&](const scheduler::Waiting& one) {
      write_because(w, one.code, one.reason);
      if (!one.rest_reason.empty()) write_because(w, one.rest_code, one.rest_reason);
    });
    w.end_array().key("not_bought").begin_array();
    write_of_class(rejected, view.id, [&](const scheduler::Rejected& one) {
      write_offer(w.begin_object(), question, one.offering);
      w.member("reason", one.reason).end_object();
    });
    w.end_array().end_object();
  }
  w.end_array();
}

}  // namespace

std::string write_answer(const Question& question, const Plan& plan) {
  std::string out;
  json::Writer w(out);
  w.begin_object().member("version", kVersion);
  if (question.time) w.member("time", exact_wall(*question.time));
  write_actions(w, question, plan);
  write_going(w, question, plan);
  write_work_status(w, question, plan);
  w.end_object();
  return out;
}

tl::expected<std::string, std::vector<Error>> answer(std::string_view snapshot) {
  Reading read = read_question(snapshot);
  if (!read.problems.empty()) return tl::unexpected(std::move(read.problems));
  return write_answer(read.question,
                      scheduler::make_plan(read.question.snapshot, read.question.policy));
}

namespace {

/// When a job would start: at most a boot from now.
void write_start(json::Writer& w, const Trial& trial, const Fate& fate) {
  if (fate.outcome == Outcome::kHostReady) w.member("starts_in", "0s");
  if (fate.outcome == Outcome::kHostReady || fate.offering == UINT32_MAX) return;
  const auto& snapshot = trial.question.snapshot;
  const auto& pool = trial.question.policy.pools[snapshot.offerings[fate.offering].pool];
  Duration booted{};
  if (fate.outcome == Outcome::kHostComing) {
    // The dispatcher's hosts are in the order of their ids.
    const auto host =
        std::ranges::lower_bound(snapshot.hosts, fate.host, {}, &scheduler::HostView::id);
    if (host != snapshot.hosts.end() && host->id == fate.host)
      booted = snapshot.now - host->created;
  }
  const auto rest = [&](Duration boot) {
    return exact_duration(
        std::chrono::ceil<std::chrono::seconds>(std::max(Duration{}, boot - booted)));
  };
  if (fate.offering < trial.boots.size())
    if (const auto& boot = trial.boots[fate.offering]) w.member("starts_in", rest(*boot));
  w.member("starts_in_at_most", rest(pool.boot_timeout));
}

void write_fate(json::Writer& w, const Trial& trial, const Fate& fate,
                const scheduler::Waiting* waiting) {
  w.begin_object().member("outcome", to_string(fate.outcome));
  if (fate.host) w.member("host", fate.host.text());
  write_offer(w, trial.question, fate.offering);
  write_start(w, trial, fate);
  if (fate.outcome == Outcome::kWaits) {
    w.key("waiting_because");
    if (waiting == nullptr)
      write_because(w, model::WaitingCode::kQuota, trial.beyond);
    else if (!waiting->rest_reason.empty())
      write_because(w, waiting->rest_code, waiting->rest_reason);
    else
      write_because(w, waiting->code, waiting->reason);
  }
  w.end_object();
}

/// The fates of the jobs of one class, one after the other.
struct Next {
  const std::vector<Fate>* fates = nullptr;
  std::size_t index = 0;
  std::uint64_t used = 0;

  /// Null: the class has more jobs than its view counts.
  const Fate* take() {
    if (fates == nullptr || index == fates->size()) return nullptr;
    const Fate* out = &(*fates)[index];
    if (++used == out->count) ++index, used = 0;
    return out;
  }
};

}  // namespace

std::string write_trial(const Trial& trial, const Plan& plan) {
  const auto fates = fates_of(trial.question.snapshot, plan);
  const auto waiting = by_class(plan.waiting);
  std::map<demand::ClassId, Next> next;
  std::string out;
  json::Writer w(out);
  w.begin_object().key(trial.kind).begin_array();
  for (const auto cls : trial.jobs) {
    const auto [at, fresh] = next.try_emplace(cls);
    if (const auto its = fates.find(cls); fresh && its != fates.end())
      at->second.fates = &its->second;
    const Fate* fate = at->second.take();
    const scheduler::Waiting* why = nullptr;
    if (fate != nullptr)
      write_of_class(waiting, cls, [&](const scheduler::Waiting& one) { why = &one; });
    write_fate(w, trial, fate == nullptr ? Fate{} : *fate, why);
  }
  w.end_array().end_object();
  return out;
}

}  // namespace hostler::planning
