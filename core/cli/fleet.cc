#include <cstdio>

#include "core/cli/commands.h"
#include "core/cli/table.h"
#include "core/json/writer.h"

/// Commands about the fleet.
namespace hostler::cli {

int instances(Client& client, bool json) {
  const auto got = client.get("/v1/instances");
  if (!got) return complain(got.error());
  if (json) return print_json(got->root());
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : got->root().at("instances").children()) {
    const auto used = one.at("used");
    const auto total = one.at("total");
    std::string state = field(one, "state");
    if (field(one, "idle_behavior") != "run") state += "," + field(one, "idle_behavior");
    if (field(one, "health") != "healthy") state += "," + field(one, "health");
    if (one.has("host_key_alarm")) state += ",host_key_alarm";
    rows.push_back({field(one, "id"), state, field(one, "type"), field(one, "pool"),
                    std::to_string(used.at("vcpus").int_or(0)) + "/" +
                        std::to_string(total.at("vcpus").int_or(0)),
                    std::to_string(one.at("attempts").size()), field(one, "verified_by"),
                    field(one, "address"), field(one, "reason")});
  }
  const auto table = format_table(
      {"ID", "STATE", "TYPE", "POOL", "VCPUS", "JOBS", "VERIFIED", "ADDRESS", "REASON"}, rows,
      terminal_width());
  std::fputs(table.c_str(), stdout);
  return exit_code::kOk;
}

int act_on_instances(Client& client, const std::string& action, const std::vector<std::string>& ids,
                     const std::string& reason) {
  std::string body;
  if (!reason.empty()) {
    json::Writer w(body);
    w.begin_object().member("reason", reason).end_object();
  }
  int status = exit_code::kOk;
  for (const auto& id : ids)
    if (const auto done = client.post("/v1/instances/" + escape(id) + "/" + action, body); !done)
      status = complain(done.error());
  return status;
}

int pools(Client& client, bool json) {
  const auto got = client.get("/v1/pools");
  if (!got) return complain(got.error());
  if (json) return print_json(got->root());
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : got->root().at("pools").children()) {
    std::string counts;
    for (const json::Value count : one.at("instances").children())
      counts +=
          (counts.empty() ? "" : ", ") + std::string(count.text()) + " " + std::string(count.key());
    rows.push_back({field(one, "name"), field(one, "min"), field(one, "max"), field(one, "standby"),
                    field(one, "stopped"), field(one, "price_per_hour"),
                    counts.empty() ? "none" : counts});
  }
  std::fputs(format_table({"POOL", "MIN", "MAX", "STANDBY", "STOPPED", "PRICE/H", "INSTANCES"},
                          rows, terminal_width())
                 .c_str(),
             stdout);
  return exit_code::kOk;
}

int sets(Client& client, bool json) {
  const auto got = client.get("/v1/sets");
  if (!got) return complain(got.error());
  if (json) return print_json(got->root());
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : got->root().at("sets").children()) {
    std::string state = one.at("open").bool_or(false) ? "open" : "not open";
    if (one.at("foreign_owner").bool_or(false)) state += ",foreign_owner";
    rows.push_back({field(one, "name"), state, field(one, "problem")});
  }
  std::fputs(format_table({"SET", "STATE", "PROBLEM"}, rows, terminal_width()).c_str(), stdout);
  return exit_code::kOk;
}

int gates(Client& client, bool json) {
  const auto got = client.get("/v1/gates");
  if (!got) return complain(got.error());
  if (json) return print_json(got->root());
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : got->root().at("gates").children())
    rows.push_back(
        {field(one, "key"), field(one, "until"), field(one, "failures"), field(one, "message")});
  if (rows.empty()) {
    say("no gate is shut");
    return exit_code::kOk;
  }
  std::fputs(
      format_table({"GATE", "SHUT UNTIL", "FAILURES", "MESSAGE"}, rows, terminal_width()).c_str(),
      stdout);
  return exit_code::kOk;
}

}  // namespace hostler::cli
