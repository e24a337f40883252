#include <cstdio>

#include "core/cli/commands.h"
#include "core/cli/table.h"
#include "core/json/writer.h"

/// Commands for instances, pools, instance sets and gates.
namespace hostler::cli {
namespace {

using Row = std::vector<std::string>;

/// Prints the list at /v1/`kind` as a table, cut to `width`, or `if_none` in place of a table
/// without rows.
int list(Client& client, const std::string& kind, bool json, const Row& head,
         Row (*row_of)(json::Value), const char* if_none = nullptr,
         std::size_t width = terminal_width()) {
  const auto got = client.get("/v1/" + kind);
  if (!got) return complain(got.error());
  if (json) return print_json(got->root());
  std::vector<Row> rows;
  for (const json::Value one : got->root().at(kind).children()) rows.push_back(row_of(one));
  if (rows.empty() && if_none != nullptr)
    say(if_none);
  else
    std::fputs(format_table(head, rows, width).c_str(), stdout);
  return exit_code::kOk;
}

Row instance_row(json::Value one) {
  const auto used = one.at("used");
  const auto total = one.at("total");
  std::string state = field(one, "state");
  if (field(one, "idle_behavior") != "run") state += "," + field(one, "idle_behavior");
  if (field(one, "health") != "healthy") state += "," + field(one, "health");
  if (one.has("host_key_alarm")) state += ",host_key_alarm";
  const std::string vcpus = std::to_string(used.at("vcpus").int_or(0)) + "/" +
                            std::to_string(total.at("vcpus").int_or(0));
  const std::string jobs = std::to_string(one.at("attempts").size());
  return {field(one, "id"),
          state,
          field(one, "type"),
          field(one, "pool"),
          vcpus,
          jobs,
          field(one, "verified_by"),
          field(one, "address"),
          field(one, "reason")};
}

Row pool_row(json::Value one) {
  std::string counts;
  for (const json::Value count : one.at("instances").children())
    counts +=
        (counts.empty() ? "" : ", ") + std::string(count.text()) + " " + std::string(count.key());
  if (counts.empty()) counts = "none";
  return {field(one, "name"),
          field(one, "min"),
          field(one, "max"),
          field(one, "standby"),
          field(one, "stopped"),
          field(one, "price_per_hour"),
          counts};
}

Row set_row(json::Value one) {
  std::string state = one.at("open").bool_or(false) ? "open" : "not open";
  if (one.at("foreign_owner").bool_or(false)) state += ",foreign_owner";
  if (one.has("reported")) state += ",other_account";
  if (one.has("doubt")) state += ",list_doubted";
  if (one.has("partition")) state += ",partition";
  return {field(one, "name"), state, field(one, "account"), field(one, "region"),
          field(one, "problem")};
}

Row gate_row(json::Value one) {
  return {field(one, "key"), field(one, "until"), field(one, "failures"), field(one, "message")};
}

}  // namespace

int instances(Client& client, bool json) {
  return list(client, "instances", json,
              {"ID", "STATE", "TYPE", "POOL", "VCPUS", "JOBS", "VERIFIED", "ADDRESS", "REASON"},
              instance_row);
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
  return list(client, "pools", json,
              {"POOL", "MIN", "MAX", "STANDBY", "STOPPED", "PRICE/H", "INSTANCES"}, pool_row);
}

int sets(Client& client, bool json) {
  return list(client, "sets", json, {"SET", "STATE", "ACCOUNT", "REGION", "PROBLEM"}, set_row);
}

int accept_account(Client& client, const std::string& set) {
  const auto done = client.post("/v1/sets/" + escape(set) + "/accept-account", "");
  return done ? exit_code::kOk : complain(done.error());
}

int believe_list(Client& client, const std::string& set, std::uint64_t list) {
  if (list != 0) {
    std::string body;
    json::Writer w(body);
    w.begin_object().member("list", list).end_object();
    const auto done = client.post("/v1/sets/" + escape(set) + "/believe", body);
    return done ? exit_code::kOk : complain(done.error());
  }
  const auto answer = client.get("/v1/sets");
  if (!answer) return complain(answer.error());
  for (const json::Value one : answer->root().at("sets").children()) {
    if (one.at("name").text() != set) continue;
    const auto missing = one.at("missing");
    for (const json::Value id : missing.children()) say(std::string(id.text()));
    const std::string number = field(one, "list");
    say(missing.size() == 0 ? "list " + number + " of set " + set + " omits no instance"
                            : "list " + number + " omits these instances. If they do not exist: " +
                                  "hostler sets believe " + set + " --list " + number);
    return exit_code::kOk;
  }
  return complain({Errc::kNotFound, "no instance set '" + set + "'"});
}

int give_up(Client& client, const std::string& set) {
  const auto done = client.post("/v1/sets/" + escape(set) + "/give-up", "");
  return done ? exit_code::kOk : complain(done.error());
}

int gates(Client& client, bool json) {
  return list(client, "gates", json, {"GATE", "SHUT UNTIL", "FAILURES", "MESSAGE"}, gate_row,
              "no gate is shut", 0);  // Not cut: `gates open` needs the whole key.
}

int open_gate(Client& client, const std::string& key) {
  std::string body;
  json::Writer w(body);
  w.begin_object().member("key", key).end_object();
  if (const auto done = client.post("/v1/gates/open", body); !done) return complain(done.error());
  return exit_code::kOk;
}

}  // namespace hostler::cli
