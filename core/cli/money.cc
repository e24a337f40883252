#include <chrono>
#include <cstdio>

#include "core/base/units.h"
#include "core/cli/commands.h"
#include "core/cli/table.h"

namespace hostler::cli {
namespace {

/// "4/64", or only the number where there is no limit.
std::string of_limit(json::Value one, const char* now, const char* limit) {
  return field(one, now) + (one.has(limit) ? "/" + field(one, limit) : "");
}

}  // namespace

int prices(Client& client, const PriceOptions& options) {
  const auto got = client.get(Query("/v1/prices")
                                  .add("set", options.set)
                                  .add("type", options.type)
                                  .add("limit", static_cast<std::uint64_t>(options.limit))
                                  .text());
  if (!got) return complain(got.error());
  if (options.json) return print_json(got->root());
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : got->root().at("prices").children())
    rows.push_back({field(one, "set"), field(one, "type"), field(one, "market"), field(one, "zone"),
                    field(one, "start"), field(one, "price_per_hour")});
  if (rows.empty()) {
    say(options.set.empty() && options.type.empty()
            ? "no cloud has reported a price yet; the configured prices are used"
            : "no cloud has reported a price for this set and type");
    return exit_code::kOk;
  }
  std::fputs(
      format_table({"SET", "TYPE", "MARKET", "ZONE", "SINCE", "PRICE/H"}, rows, terminal_width())
          .c_str(),
      stdout);
  if (got->root().at("more").bool_or(false)) warn("there are more rows; use a higher --limit");
  return exit_code::kOk;
}

int cost(Client& client, const CostOptions& options) {
  const auto got = client.get(Query("/v1/cost")
                                  .add("by", options.by)
                                  .add("since", options.since)
                                  .add("until", options.until)
                                  .add("limit", static_cast<std::uint64_t>(options.limit))
                                  .text());
  if (!got) return complain(got.error());
  if (options.json) return print_json(got->root());
  const auto root = got->root();
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : root.at("rows").children())
    rows.push_back({field(one, "name"), field(one, "cost"), field(one, "seconds")});
  std::fputs(format_table({"NAME", "COST", "SECONDS"}, rows, terminal_width()).c_str(), stdout);
  if (root.at("more").bool_or(false)) warn("there are more rows; use a higher --limit");
  if (root.has("total"))
    say("all instances: " + field(root, "total") + ", of that unused: " + field(root, "unused"));
  for (const json::Value doubt : root.at("doubts").children()) warn(std::string(doubt.text()));
  return exit_code::kOk;
}

int shares(Client& client, bool json) {
  const auto got = client.get("/v1/shares");
  if (!got) return complain(got.error());
  if (json) return print_json(got->root());
  const auto root = got->root();
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : root.at("principals").children())
    rows.push_back({field(one, "principal"), field(one, "recent_use"), field(one, "percent"),
                    field(one, "running"), of_limit(one, "vcpus", "vcpus_max"),
                    of_limit(one, "gpus", "gpus_max"),
                    of_limit(one, "price_per_hour", "price_per_hour_max"), field(one, "waiting")});
  std::fputs(
      format_table({"USER", "RECENT USE", "%", "RUNNING", "VCPUS", "GPUS", "PRICE/H", "WAITING"},
                   rows, terminal_width())
          .c_str(),
      stdout);
  say("recent use of all: " + field(root, "recent_use") + "; half of it is forgotten in " +
      format_duration(std::chrono::seconds(root.at("half_life_seconds").int_or(0))));
  return exit_code::kOk;
}

}  // namespace hostler::cli
