#include "core/simulation/read_scenario.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/config/load.h"
#include "core/json/gpus.h"
#include "core/json/reader.h"
#include "core/model/currency.h"
#include "core/simulation/read_metrics.h"
#include "core/simulation/read_pushed.h"
#include "core/simulation/read_times.h"
#include "core/simulation/recorded_cloud.h"

namespace hostler::simulation {
namespace {

constexpr std::size_t kFileMax = std::size_t{16} << 20U;
constexpr std::size_t kPartsMax = 1000;  ///< Of arrivals, traces, prices, ...
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 50;

void read_part(const json::Field& field, double& out) { field.number(out, 0, 1); }

void read_needs(const json::Field& field, model::WorkShape& shape) {
  model::Resources& out = shape.needs;
  field.object([&](json::Object& o) {
    std::int64_t vcpus = 0;
    if (o.may("vcpus").thousandths(vcpus, 0, model::kVcpusMax.thousandths()))
      out.vcpus = model::Vcpus::of_thousandths(vcpus);
    json::read_gpus(o.may("gpus"), out.gpus, shape.constraints.gpu);
    o.may("ram").size(out.ram, 0, kBytesMax);
    o.may("scratch").size(out.scratch, 0, kBytesMax);
  });
}

constexpr std::array kMarkets{json::Word<model::Market>{"on_demand", model::Market::kOnDemand},
                              json::Word<model::Market>{"spot", model::Market::kSpot}};

void read_shape(json::Object& o, model::WorkShape& out) {
  out.needs = {.vcpus = 1, .gpus = 0, .ram = std::int64_t{1} << 30, .scratch = 0};
  read_needs(o.may("needs"), out);
  o.may("priority").integer(out.priority, -1'000'000, 1'000'000);
  o.may("restartable").boolean(out.restartable);
  o.may("types").names(out.constraints.types, 64);
  o.may("zone").text(out.constraints.zone);
  model::Market market{};
  if (o.may("market").word(market, kMarkets)) out.constraints.market = market;
}

void read_arrivals(json::Object& o, Duration lasts, Arrivals& out) {
  o.may("user").text(out.user, {.bytes_max = 64, .bytes_min = 1, .one_line = true});
  read_shape(o, out.shape);
  read_spread(o.may("runs"), out.runs);
  read_part(o.may("fails"), out.fails);
  read_times(o, lasts, out);
}

void read_trace(json::Object& o, const std::filesystem::path& folder, Trace& out) {
  std::string file;
  if (o.need("swf").text(file, {.bytes_max = 4096, .bytes_min = 1})) out.file = folder / file;
  o.may("vcpus_per_processor").integer(out.vcpus_per_processor, 1, 1024);
  o.may("ram").size(out.ram, 0, kBytesMax);
  o.may("restartable").boolean(out.restartable);
}

void read_load(const json::Field& field, const std::filesystem::path& folder, Scenario& out) {
  field.each(kPartsMax, [&](const json::Field& one) {
    one.object([&](json::Object& o) {
      if (o.value().has("swf"))
        read_trace(o, folder, out.traces.emplace_back());
      else
        read_arrivals(o, out.lasts, out.arrivals.emplace_back());
    });
  });
}

void read_faults(json::Object& o, CloudModel& out) {
  read_part(o.may("creates_fail"), out.creates_fail);
  read_part(o.may("answers_lost"), out.answers_lost);
  read_part(o.may("calls_fail"), out.calls_fail);
  read_part(o.may("boots_fail"), out.boots_fail);
  o.may("machines_lost_per_day").number(out.machines_lost_per_day, 0, 1000);
  o.may("empty_lists").each(kPartsMax, [&](const json::Field& one) {
    one.object([&](json::Object& lists) {
      EmptyLists& spell = out.empty_lists.emplace_back();
      lists.need("from").duration(spell.from, Duration::zero(), kLastsMax);
      lists.need("lasting").duration(spell.lasting, kShortestTime, kLastsMax);
    });
  });
}

/// What the scenario says itself holds in place of what was recorded.
void read_recording(const json::Field& field, const std::filesystem::path& folder,
                    CloudModel& out) {
  std::string file;
  if (!field.text(file, {.bytes_max = 4096, .bytes_min = 1})) return;
  auto recorded = read_recorded_cloud(folder / file);
  if (recorded)
    out = *std::move(recorded);
  else
    field.problem(recorded.error().message);
}

void read_cloud(json::Object& o, const std::filesystem::path& folder, CloudModel& out) {
  read_recording(o.may("recording"), folder, out);
  read_spread(o.may("create"), out.create);
  read_spread(o.may("boot"), out.boot);
  read_spread(o.may("destroy"), out.destroy);
  o.may("quota").integer(out.quota, 0, 1'000'000);
  o.may("stock").members(kPartsMax, [&](std::string_view type, const json::Field& count) {
    count.integer(out.stock[std::string(type)], 0, 1'000'000);
  });
  o.may("prices").each(kPartsMax, [&](const json::Field& one) {
    one.object([&](json::Object& price) {
      PriceChange& change = out.prices.emplace_back();
      price.need("at").duration(change.at, Duration::zero(), kLastsMax);
      price.need("type").name(change.type);
      price.need("price_per_hour").millionths(change.per_hour.value, 0, 1'000'000'000'000);
    });
  });
  std::ranges::stable_sort(out.prices, {}, &PriceChange::at);
  o.may("faults").object([&](json::Object& faults) { read_faults(faults, out); });
}

void read_starts(const json::Field& field, Wall& out) {
  std::string text;
  if (!field.text(text, {.bytes_max = 40, .one_line = true})) return;
  if (const auto time = parse_wall(text))
    out = *time;
  else
    field.refuse("a time such as \"2026-11-21T10:15:04Z\"");
}

void read_all(json::Object& o, const std::filesystem::path& folder, Scenario& out) {
  std::int64_t version = kVersion;
  const json::Field its_version = o.need("version");
  if (its_version.integer(version, 1, 1'000'000) && version != kVersion)
    its_version.refuse(std::to_string(kVersion) + "; a newer hostler has written it");
  std::string config;
  if (o.may("config").text(config, {.bytes_max = 4096, .bytes_min = 1}))
    out.config = folder / config;
  o.may("seed").integer(out.seed, 0, INT64_MAX);
  o.may("lasts").duration(out.lasts, 1s, kLastsMax);
  read_starts(o.may("starts"), out.starts);
  read_metrics(o.may("metrics"), out.metrics);
  read_load(o.need("load"), folder, out);
  read_pushed(o.may("pushed"), out.lasts, out.pushed);
  o.may("clouds").members(kPartsMax, [&](std::string_view set, const json::Field& cloud) {
    cloud.object(
        [&](json::Object& members) { read_cloud(members, folder, out.clouds[std::string(set)]); });
  });
}

Error named(const std::filesystem::path& file, Error error) {
  error.message = file.string() + ": " + error.message;
  return error;
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, const std::filesystem::path& folder) {
  Scenario out;
  HOSTLER_TRY(json::read_object(text, {.bytes_max = kFileMax, .comments = true},
                                [&](json::Object& o) { read_all(o, folder, out); }));
  return out;
}

Result<Scenario> read_scenario(const std::filesystem::path& file) {
  auto text = read_file(file, kFileMax);
  if (!text) return tl::unexpected(std::move(text.error()));
  auto out = parse_scenario(*text, std::filesystem::absolute(file).parent_path());
  if (!out) return tl::unexpected(named(file, std::move(out.error())));
  return out;
}

Result<model::SitePolicy> read_policy(const std::filesystem::path& file) {
  config::LoadOptions options;
  options.trusted_only = false;
  options.read_files = false;
  auto config = config::load(file, options);
  if (!config) return tl::unexpected(std::move(config.error()));
  return std::move(config->site);
}

Result<void> check_against(const Scenario& scenario, const model::SitePolicy& policy) {
  const auto refuse = [](std::string text) {
    return tl::unexpected(Error{Errc::kInvalidArgument, std::move(text), {}});
  };
  const auto unknown = [&](const std::string& path, const std::string& name, const auto& known) {
    std::string all;
    for (const auto& one : known)
      if (all.size() < 200) all += (all.empty() ? "" : ", ") + one.name;
    return refuse(path + ": found \"" + name +
                  "\", which the config does not have, allowed: " + all);
  };
  const auto has = [](const auto& known, const std::string& name) {
    return std::ranges::any_of(known, [&](const auto& one) { return one.name == name; });
  };
  for (const auto& [set, cloud] : scenario.clouds) {
    if (!has(policy.sets, set)) return unknown("clouds", set, policy.sets);
    for (const auto& [type, count] : cloud.stock)
      if (!has(policy.types, type)) return unknown("clouds." + set + ".stock", type, policy.types);
    if (!cloud.recorded_prices.empty() && !model::rate_of(policy, cloud.recorded_currency))
      return refuse("clouds." + set +
                    ".recording: " + model::no_rate_text(policy, cloud.recorded_currency));
    for (const PriceChange& change : cloud.prices)
      if (!has(policy.types, change.type))
        return unknown("clouds." + set + ".prices", change.type, policy.types);
  }
  for (const PushedLoad& one : scenario.pushed) {
    const auto pool = std::ranges::find(policy.pools, one.pool, &model::PoolPolicy::name);
    if (pool == policy.pools.end()) return unknown("pushed[].pool", one.pool, policy.pools);
    if (!pool->pushed)
      return refuse("pushed[].pool: the pool \"" + one.pool +
                    "\" of the config takes no pushes: it needs the key `pushed`");
  }
  for (const Arrivals& one : scenario.arrivals)
    for (const std::string& type : one.shape.constraints.types)
      if (!has(policy.types, type)) return unknown("load[].types", type, policy.types);
  for (const auto& metric : policy.metrics) {
    if (metric.own) continue;
    const auto found = scenario.metrics.find(metric.name);
    if (found == scenario.metrics.end())
      return refuse("metrics: the config has \"" + metric.name +
                    "\", of which the scenario says nothing: say what it is, or [[\"0s\", null]] "
                    "if it never answers");
    if (found->second.contains("") != metric.by.empty())
      return refuse("metrics." + metric.name +
                    (metric.by.empty()
                         ? ": it is one number in the config, so its values stand without `by`"
                         : ": its values stand in `by`, by the label \"" + metric.by + "\""));
  }
  for (const auto& pool : policy.pools)
    if (pool.selector)
      return refuse("pool '" + pool.name +
                    "' chooses types by their properties, which is not simulated: name its types");
  return {};
}

}  // namespace hostler::simulation
