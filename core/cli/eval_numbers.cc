#include "core/cli/eval_numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <future>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/sources/read_once.h"
#include "core/sources/zones.h"

namespace hostler::cli {
namespace {

using expression::Input;

/// A count of a pool: its name, how an expression asks for it, where it is.
struct Count {
  std::string_view name;
  Input::Kind kind;
  std::int64_t dispatch::PoolCounts::*member;
};
constexpr std::array kCounts{
    Count{"created", Input::Kind::kCreated, &dispatch::PoolCounts::created},
    Count{"started", Input::Kind::kStarted, &dispatch::PoolCounts::started},
    Count{"idle", Input::Kind::kIdle, &dispatch::PoolCounts::idle},
    Count{"busy", Input::Kind::kBusy, &dispatch::PoolCounts::busy},
    Count{"queued", Input::Kind::kQueued, &dispatch::PoolCounts::queued},
};
constexpr double kCountMax = 1e9;
/// The clock of decisions, when it matters only how long ago something was.
constexpr Mono kNow{std::chrono::hours(24 * 365)};

/// In place of a reading.
model::MetricReading given_reading(const std::string& name, std::optional<double> value,
                                   const std::string& key, Wall now) {
  if (!value) return {.metric = name, .samples = {}, .failure = "it was given as unknown"};
  return {.metric = name, .samples = {{key, *value, now}}, .failure = {}};
}

/// Why a metric that is not given is not read; empty: it is.
std::string why_not_read(const model::MetricPolicy& metric, const std::string& pool, bool reads) {
  if (!reads) return "it was not given";
  const std::string advice = ": give it with --set " + metric.name + "=N";
  if (metric.own) return "only the daemon can count it" + advice;
  if (!metric.by.empty() && pool == simulation::kTextKey)
    return "it has one value for each " + metric.by + advice;
  return {};
}

/// `asks_age`: some text has age(m), also one that is not in the configuration.
std::future<model::MetricReading> start_reading(model::MetricSource source, bool asks_age,
                                                std::optional<Wall> at) {
  source.asks_age = source.asks_age || asks_age;
  return std::async(std::launch::async, [source, at] { return sources::read_once(source, at); });
}

void read_metrics(const std::vector<Input>& inputs, const config::Config& config,
                  const std::string& pool, const GivenNumbers& given, bool reads,
                  simulation::Given& out) {
  std::map<std::string, bool> asked;  // And whether their age is.
  for (const Input& input : inputs)
    if (input.is_of_metric()) asked[input.name] |= input.kind == Input::Kind::kAge;
  std::vector<std::future<model::MetricReading>> under_way;
  for (std::size_t i = 0; i < config.site.metrics.size(); ++i) {
    const model::MetricPolicy& metric = config.site.metrics[i];
    const auto wanted = asked.find(metric.name);
    if (wanted == asked.end()) continue;
    const auto number = given.by_name.find(metric.name);
    if (number != given.by_name.end())
      out.readings.push_back(
          given_reading(metric.name, number->second, metric.by.empty() ? "" : pool, out.now.wall));
    else if (std::string why = why_not_read(metric, pool, reads); !why.empty())
      out.readings.push_back({.metric = metric.name, .samples = {}, .failure = std::move(why)});
    else
      under_way.push_back(start_reading(config.metric_sources[i], wanted->second, given.at));
  }
  for (auto& reading : under_way) out.readings.push_back(reading.get());
}

Result<void> read_zones(const std::vector<Input>& inputs, simulation::Given& out) {
  std::set<std::string> zones;
  for (const Input& input : inputs)
    if (input.kind == Input::Kind::kHour || input.kind == Input::Kind::kWeekday)
      zones.insert(input.name);
  for (const std::string& zone : zones)
    out.zones.push_back(
        HOSTLER_TRY(sources::zone_times(zone, out.now.wall, out.now.wall + std::chrono::hours(1))));
  return {};
}

}  // namespace

Result<void> add_number(std::string_view word, GivenNumbers& out) {
  const std::size_t at = word.find('=');
  const std::string name(word.substr(0, at));
  double value = 0;
  const char* const end = word.data() + word.size();
  const char* const begin = at == word.npos ? end : word.data() + at + 1;
  const auto [rest, problem] = std::from_chars(begin, end, value);
  if (at == word.npos || name.empty() || problem != std::errc() || rest != end)
    return fail(Errc::kInvalidArgument,
                "--set " + printable(word, 100) + ": it must be NAME=NUMBER, such as queued=12");
  if (!out.by_name.emplace(name, value).second)
    return fail(Errc::kInvalidArgument, "--set " + name + " is given twice");
  return {};
}

Result<Wall> parse_time(std::string_view text) {
  if (const auto seconds = parse_u64(text); seconds && *seconds < 253'402'300'800)  // year 10000
    return Wall{static_cast<std::int64_t>(*seconds) * 1'000'000};
  if (const auto time = parse_wall(text)) return *time;
  return fail(Errc::kInvalidArgument, "'" + printable(text, 60) +
                                          "' is no time, such as 2026-11-21T10:15:04Z, or seconds "
                                          "since 1970");
}

bool is_count(std::string_view name) {
  return std::ranges::find(kCounts, name, &Count::name) != kCounts.end();
}

Result<void> check_names(const GivenNumbers& given, const model::SitePolicy& site) {
  for (const auto& [name, value] : given.by_name) {
    if (is_count(name) &&
        (!value || !(*value >= 0 && *value <= kCountMax) || *value != std::floor(*value)))
      return fail(Errc::kInvalidArgument, name + " must be a whole number from 0 to a billion");
    if (!is_count(name) &&
        std::ranges::find(site.metrics, name, &model::MetricPolicy::name) == site.metrics.end())
      return fail(Errc::kInvalidArgument,
                  "'" + printable(name, 60) +
                      "' is no metric of the configuration, and none of created, started, idle, "
                      "busy, queued");
  }
  return {};
}

Result<simulation::Given> numbers_of(const std::vector<Input>& inputs, const config::Config& config,
                                     const std::string& pool, const GivenNumbers& given, bool reads,
                                     Wall now) {
  simulation::Given out;
  out.now = {.mono = kNow, .wall = given.at.value_or(now)};
  for (const Count& count : kCounts)
    if (const auto found = given.by_name.find(std::string(count.name));
        found != given.by_name.end() && found->second)
      out.counts.*count.member = static_cast<std::int64_t>(*found->second);
  read_metrics(inputs, config, pool, given, reads, out);
  HOSTLER_TRY(read_zones(inputs, out));
  return out;
}

std::vector<std::string> missing_counts(const std::vector<Input>& inputs,
                                        const GivenNumbers& given) {
  std::vector<std::string> out;
  for (const Input& input : inputs)
    if (const auto count = std::ranges::find(kCounts, input.kind, &Count::kind);
        count != kCounts.end() && !given.has(std::string(count->name)))
      out.emplace_back(count->name);
  return out;
}

}  // namespace hostler::cli
