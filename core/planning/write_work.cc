#include <algorithm>
#include <set>

#include "core/base/units.h"
#include "core/planning/words.h"
#include "core/planning/writers.h"

namespace hostler::planning {
namespace {

using demand::ClassView;
using demand::PriceBound;

/// Classes that hosts name and that do not wait.
std::set<demand::ClassId> gone_of(const scheduler::Snapshot& snapshot) {
  std::set<demand::ClassId> out;
  for (const auto& host : snapshot.hosts) {
    for (const auto& load : host.load) out.insert(load.cls);
    if (host.reserved_for) out.insert(*host.reserved_for);
  }
  for (const ClassView& view : snapshot.classes) out.erase(view.id);
  return out;
}

void write_bound(json::Writer& w, const PriceBound& bound) {
  w.key("price_limits").begin_array();
  for (const auto& bucket : bound.buckets()) {
    w.begin_object().member("principals", bucket.principals);
    const auto& left = bucket.all.left;
    const auto& most = bucket.most;
    write_money(w, "left", left.price_per_hour);
    write_money(w, "most", most.price_per_hour);
    w.member("items", bucket.all.items);
    if (most.vcpus < PriceBound::kAny.vcpus) {
      const auto vcpus = std::min(left.vcpus, PriceBound::kAny.vcpus);
      w.key("vcpus_left").thousandths(vcpus.thousandths());
      w.key("vcpus_most").thousandths(most.vcpus.thousandths());
    }
    if (most.gpus < PriceBound::kAny.gpus) {
      w.member("gpus_left", std::min(left.gpus, PriceBound::kAny.gpus));
      w.member("gpus_most", most.gpus);
    }
    w.end_object();
  }
  w.end_array();
}

void write_view(json::Writer& w, const ClassView& view, Mono now) {
  w.begin_object().member("id", text_of(view.id)).member("kind", word_of(view.kind, kKinds));
  w.member("count", view.count).key("needs").begin_object();
  write_resources(w, view.shape.needs, view.shape.constraints.gpu);
  write_slots(w, view.shape.needs, 0);
  w.end_object().member("priority", view.shape.priority);
  write_constraints(w, view.shape.constraints);
  if (view.shape.exclusive) w.member("exclusive", true);
  if (view.shape.gang.count > 0) w.member("gang", view.shape.gang.count);
  if (view.shape.gang.one_zone) w.member("one_zone", true);
  if (view.shape.lasts > Duration::zero()) w.member("lasts", exact_duration(view.shape.lasts));
  if (view.not_before > now) w.member("pause", exact_duration(view.not_before - now));
  w.member("waiting_for", age_of(view.oldest, now));
  if (view.displaced) w.member("displaced", true);
  if (view.price) write_bound(w, *view.price);
  w.key("turns").begin_array();
  for (const auto& turn : view.heads)
    w.begin_object().member("use", turn.use).member("arrival", turn.arrival).end_object();
  w.end_array().end_object();
}

/// The push of its pool says it.
bool is_of_push(const Question& question, const ClassView& view) {
  const auto& pools = question.policy.pools;
  if (view.kind != model::WorkKind::kTask || view.shape.constraints.pools.size() != 1) return false;
  const auto its =
      std::ranges::find(pools, view.shape.constraints.pools.front(), &model::PoolPolicy::name);
  return its != pools.end() &&
         scheduler::entry_of(question.pushes, static_cast<std::size_t>(its - pools.begin()));
}

}  // namespace

void write_constraints(json::Writer& w, const model::Constraints& constraints) {
  model::Constraints other = constraints;
  other.gpu = {};  // It is told with the needs.
  if (other == model::Constraints{}) return;
  w.key("constraints").begin_object();
  const auto write_names = [&w](const char* key, const std::vector<std::string>& names) {
    if (names.empty()) return;
    w.key(key).begin_array();
    for (const auto& name : names) w.value(name);
    w.end_array();
  };
  write_names("types", constraints.types);
  if (constraints.market) w.member("market", word_of(*constraints.market, kMarkets));
  write_text(w, "zone", constraints.zone);
  write_names("pools", constraints.pools);
  w.end_object();
}

void write_work(json::Writer& w, const Question& question, std::string& lines) {
  const scheduler::Snapshot& snapshot = question.snapshot;
  w.key("work_gone").begin_array();
  for (const auto cls : gone_of(snapshot)) w.value(text_of(cls));
  w.end_array().key("work").begin_array();
  for (const ClassView& view : snapshot.classes) {
    if (is_of_push(question, view)) continue;
    write_view(w, view, snapshot.now);
    lines += '\n';
  }
  w.end_array();
}

}  // namespace hostler::planning
