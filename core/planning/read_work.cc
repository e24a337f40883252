#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/planning/readers.h"
#include "core/planning/words.h"

/// Waiting work, in classes of equal items.
namespace hostler::planning {
namespace {

using demand::ClassView;
using demand::PriceBound;
using demand::Turn;

constexpr std::uint64_t kTurnsMax = 32;
constexpr std::int32_t kPriorityMax = 1'000'000;

void read_constraints(const json::Field& field, model::Constraints& out) {
  field.object([&](json::Object& o) {
    if (o.may("types").names(out.types, 1000)) std::ranges::sort(out.types);
    model::Market market{};
    if (o.may("market").word(market, kMarkets)) out.market = market;
    o.may("zone").text(out.zone, {.bytes_max = 63, .bytes_min = 1, .one_line = true});
    if (o.may("pools").names(out.pools, 1000)) std::ranges::sort(out.pools);
  });
}

void read_turns(const json::Field& field, const ClassView& of, std::vector<Turn>& out) {
  const bool read = field.each(kTurnsMax, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      Turn& turn = out.emplace_back();
      o.may("use").number(turn.use, -1e300, 1e300);
      o.need("arrival").integer(turn.arrival, 0, INT64_MAX);
    });
  });
  if (!read) return;
  if (out.size() > of.count)
    field.problem("found " + std::to_string(out.size()) +
                  " turns, allowed: at most count, which is " + std::to_string(of.count));
}

bool read_vcpus(const json::Field& field, model::Vcpus& out) {
  std::int64_t vcpus = 0;
  if (!field.thousandths(vcpus, 0, PriceBound::kAny.vcpus.thousandths())) return false;
  out = model::Vcpus::of_thousandths(vcpus);
  return true;
}

void read_bound(const json::Field& field, std::optional<PriceBound>& out) {
  std::vector<PriceBound::Bucket> buckets;
  const bool read = field.each(PriceBound::kBucketsMax, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      PriceBound::Bucket& bucket = buckets.emplace_back();
      bucket.principals = 1;
      o.may("principals").integer(bucket.principals, 1, kCountMax);
      model::Amounts &left = bucket.all.left, &most = bucket.most;
      o.need("left").millionths(left.price_per_hour.value, 0, kMoneyMax);
      o.need("items").integer(bucket.all.items, 0, kCountMax);
      read_vcpus(o.may("vcpus_left"), left.vcpus);
      o.may("gpus_left").integer(left.gpus, 0, PriceBound::kAny.gpus);
      most = left;
      o.may("most").millionths(most.price_per_hour.value, 0, kMoneyMax);
      read_vcpus(o.may("vcpus_most"), most.vcpus);
      o.may("gpus_most").integer(most.gpus, 0, PriceBound::kAny.gpus);
    });
  });
  if (read) out = PriceBound::of_buckets(std::move(buckets));
}

/// Views that were read, by what must differ.
using Views = std::map<std::tuple<demand::ClassId, bool, bool>, std::size_t>;

/// Each gang of a snapshot is a class, whose number stands for that of the gang.
void read_gang(json::Object& o, ClassView& out) {
  auto& gang = out.shape.gang;
  const json::Field size = o.may("gang");
  if (size.integer(gang.count, 2, model::kGangMax)) gang.id = out.id + 1;
  if (gang.count > 0 && (out.count > gang.count || !out.shape.exclusive))
    size.problem("found " + std::to_string(gang.count) +
                 ", allowed: at least count, of work that is exclusive");
  o.may("one_zone").boolean(gang.one_zone);
  o.may("lasts").duration(out.shape.lasts, Duration::zero(), kLongest);
  Duration pause{};
  if (o.may("pause").duration(pause, Duration::zero(), kLongest)) out.not_before = kNow + pause;
}

/// False: the view has no id.
bool read_view(const json::Field& element, Draft& draft, Views& views, std::uint64_t& arrivals) {
  ClassView out;
  bool named = false;
  element.object([&](json::Object& o) {
    const json::Field id = o.need("id");
    named = read_class(id, out.id);
    o.may("kind").word(out.kind, kKinds);
    o.need("count").integer(out.count, 1, kCountMax);
    out.displaced = out.kind == model::WorkKind::kTask;
    if (!out.displaced) out.shape.needs = model::JobSpec{}.needs;
    read_resources(o.may("needs"), out.shape.needs, out.shape.constraints.gpu);
    o.may("priority").integer(out.shape.priority, -kPriorityMax, kPriorityMax);
    read_constraints(o.may("constraints"), out.shape.constraints);
    o.may("exclusive").boolean(out.shape.exclusive);
    read_gang(o, out);
    out.oldest = kNow;
    read_age(o.may("waiting_for"), out.oldest);
    o.may("displaced").boolean(out.displaced);
    read_bound(o.may("price_limits"), out.price);
    const json::Field turns = o.may("turns");
    read_turns(turns, out, out.heads);
    // They arrived one after the other, after all before them.
    if (!turns.present() && !out.displaced)
      for (std::uint64_t i = 0; i < std::min(out.count, kTurnsMax); ++i)
        out.heads.push_back({.use = 0, .arrival = arrivals + i});
    if (!out.heads.empty()) arrivals = std::max(arrivals, out.heads.back().arrival) + 1;
    if (!turns.present()) arrivals += out.count;
    if (!named) return;
    const auto [same, fresh] =
        views.try_emplace({out.id, out.price.has_value(), out.displaced}, views.size());
    if (!fresh)
      id.problem("found \"" + text_of(out.id) +
                 "\" a second time, allowed: once, and once more each with price_limits and with "
                 "displaced");
    draft.work.insert(out.id);
  });
  draft.out.snapshot.classes.push_back(std::move(out));
  return named;
}

}  // namespace

void check_pairs(const json::Field& field, const Draft& draft) {
  const std::size_t classes = draft.out.snapshot.classes.size();
  const std::size_t offerings = draft.out.snapshot.offerings.size();
  if (classes * offerings > kPairsMax)
    field.problem("found " + std::to_string(classes) + " classes and " + std::to_string(offerings) +
                      " offerings, allowed: a product of at most " + std::to_string(kPairsMax),
                  Errc::kTooLarge);
}

void read_work(const json::Field& field, Draft& draft) {
  const std::set<demand::ClassId> gone = draft.work;
  Views views;
  std::uint64_t arrivals = 1;
  std::map<demand::ClassId, std::size_t> first;
  auto& classes = draft.out.snapshot.classes;
  field.each(kListMax, [&](const json::Field& element) {
    if (!read_view(element, draft, views, arrivals)) return;
    const ClassView& view = classes.back();
    const auto [at, fresh] = first.try_emplace(view.id, classes.size() - 1);
    if (gone.contains(view.id))
      element.problem("\"" + text_of(view.id) + "\" waits, and work_gone names it");
    if (!fresh &&
        (classes[at->second].shape != view.shape || classes[at->second].kind != view.kind))
      element.problem(
          "\"" + text_of(view.id) +
          "\" has other kind, needs, priority or constraints than the one before, or is not "
          "exclusive as it is");
  });
  check_pairs(field, draft);
  std::ranges::stable_sort(classes, [](const ClassView& a, const ClassView& b) {
    return a.shape.priority > b.shape.priority;
  });
}

}  // namespace hostler::planning
