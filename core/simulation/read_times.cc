#include "core/simulation/read_times.h"

#include "core/base/units.h"

namespace hostler::simulation {
namespace {

constexpr std::int64_t kCountMax = 10'000'000, kRateMax = 1'000'000'000;

}  // namespace

void read_spread(const json::Field& field, Spread& out) {
  if (!field.present()) return;
  if (field.value()->is(json::Kind::kString)) {
    if (field.duration(out.least, kShortestTime, kLongestTime))
      out.most = out.least, out.mean = {}, out.samples.clear();
    return;
  }
  if (!field.value()->is(json::Kind::kObject)) {
    field.refuse("a duration such as \"30s\", {\"least\", \"most\"} or {\"mean\"}");
    return;
  }
  field.object([&](json::Object& o) {
    out.samples.clear();
    if (o.value().has("mean")) {
      o.may("mean").duration(out.mean, kShortestTime, kLongestTime);
      return;
    }
    out.mean = {};
    o.need("least").duration(out.least, kShortestTime, kLongestTime);
    const json::Field most = o.need("most");
    if (most.duration(out.most, kShortestTime, kLongestTime) && out.most < out.least)
      most.refuse("at least \"" + exact_duration(out.least) + "\", the value of \"least\"");
  });
}

void read_times(json::Object& o, Duration lasts, Arrivals& out) {
  out.until = lasts;
  o.may("from").duration(out.from, Duration::zero(), kLastsMax);
  const json::Field until = o.may("until");
  if (until.duration(out.until, Duration::zero(), kLastsMax) && out.until < out.from)
    until.refuse("\"" + exact_duration(out.from) + "\", the value of \"from\", or later");
  const auto how = o.exactly_one({"count", "per_hour", "every"});
  if (how == "count") o.may("count").integer(out.count, 1, kCountMax);
  if (how == "per_hour")
    o.may("per_hour").number(out.per_hour, 1e-6, static_cast<double>(kRateMax));
  if (how == "every") o.may("every").duration(out.every, kShortestTime, kLongestTime);
}

}  // namespace hostler::simulation
