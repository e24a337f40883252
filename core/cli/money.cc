#include <cstdio>

#include "core/cli/commands.h"
#include "core/cli/table.h"

namespace hostler::cli {

int prices(Client& client, const std::string& set, const std::string& type, bool json) {
  std::string query = "/v1/prices";
  if (!set.empty()) query += "?set=" + escape(set);
  if (!type.empty()) query += (set.empty() ? "?type=" : "&type=") + escape(type);
  const auto got = client.get(query);
  if (!got) return complain(got.error());
  if (json) return print_json(*got);
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : got->root().at("prices").children())
    rows.push_back({field(one, "set"), field(one, "type"), field(one, "market"), field(one, "zone"),
                    field(one, "start"), field(one, "price_per_hour")});
  if (rows.empty()) {
    std::puts("no cloud has said a price yet; the menu's are in force");
    return exit_code::kOk;
  }
  std::fputs(
      format_table({"SET", "TYPE", "MARKET", "ZONE", "SINCE", "PRICE/H"}, rows, terminal_width())
          .c_str(),
      stdout);
  return exit_code::kOk;
}

int cost(Client& client, const CostOptions& options) {
  std::string query = "/v1/cost?by=" + escape(options.by);
  if (!options.since.empty()) query += "&since=" + escape(options.since);
  if (!options.until.empty()) query += "&until=" + escape(options.until);
  query += "&limit=" + std::to_string(options.limit);
  const auto got = client.get(query);
  if (!got) return complain(got.error());
  if (options.json) return print_json(*got);
  const auto root = got->root();
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : root.at("rows").children())
    rows.push_back({field(one, "name"), field(one, "cost"), field(one, "seconds")});
  std::fputs(format_table({"NAME", "COST", "SECONDS"}, rows, terminal_width()).c_str(), stdout);
  if (root.at("more").bool_or(false)) std::puts("there are more: --limit shows more");
  std::printf("all instances: %s, of that unused: %s\n", field(root, "total").c_str(),
              field(root, "unused").c_str());
  return exit_code::kOk;
}

}  // namespace hostler::cli
