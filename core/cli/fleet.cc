#include <cstdio>
#include <limits>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/cli/commands.h"
#include "core/cli/gpus.h"
#include "core/cli/table.h"
#include "core/json/writer.h"

/// Commands for instances, pools, instance sets and gates.
namespace hostler::cli {
namespace {

using Row = std::vector<std::string>;

/// The elements of `texts` after `first`, separated by "; ".
std::string joined(std::string first, json::Value texts) {
  for (const json::Value text : texts.children())
    first += (first.empty() ? "" : "; ") + std::string(text.text());
  return first;
}

/// What matters most of an instance now.
std::string reason_of(json::Value one) {
  if (one.has("conditions")) return joined("", one.at("conditions"));
  std::string last = field(one, "last_text");
  const std::string state = field(one, "state");
  if ((state == "booting" || state == "unknown") && !last.empty()) return last;
  return field(one, "reason");
}

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

/// "2/4 free, 1 bad".
std::string cards_of(json::Value one) {
  if (!one.has("gpus")) return "";
  const auto gpus = one.at("gpus");
  std::int64_t sum = 0;
  for (const char* state : {"free", "used", "bad", "unknown"}) sum += gpus.at(state).int_or(0);
  std::string out = field(gpus, "free") + "/" + std::to_string(sum) + " free";
  for (const char* state : {"bad", "unknown"})
    if (gpus.at(state).int_or(0) > 0) out += ", " + field(gpus, state) + " " + state;
  return out;
}

Row instance_row(json::Value one) {
  const auto used = one.at("used");
  const auto total = one.at("total");
  std::string state = field(one, "state");
  if (field(one, "idle_behavior") != "run") state += "," + field(one, "idle_behavior");
  if (field(one, "health") != "healthy") state += "," + field(one, "health");
  if (one.has("unlisted_since")) state += ",unlisted";
  if (one.has("closed")) state += ",closed";
  if (one.has("uses_max") &&
      (!one.has("uses") || one.at("uses").int_or(0) >= one.at("uses_max").int_or(0)))
    state += ",used_up";
  if (one.has("interruption")) state += ",interruption";
  if (one.has("init_failed")) state += ",init_failed";
  if (one.has("host_key_alarm")) state += ",host_key_alarm";
  const std::string vcpus = field(used, "vcpus") + "/" + field(total, "vcpus");
  const std::string jobs =
      one.has("lease") ? field(one, "lease") : std::to_string(one.at("attempts").size());
  return {field(one, "id"),
          state,
          field(one, "type"),
          field(one, "pool"),
          vcpus,
          jobs,
          field(one, "verified_by"),
          field(one, "address"),
          reason_of(one)};
}

Row wide_instance_row(json::Value one) {
  Row out = instance_row(one);
  out.insert(out.begin() + 6, cards_of(one));
  return out;
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

Row type_row(json::Value one) {
  std::string zones, pools;
  for (const json::Value zone : one.at("zones").children()) {
    if (!zone.has("zone") && !zone.at("unavailable").bool_or(false)) continue;
    zones += (zones.empty() ? "" : ", ") + field(zone, "zone");
    if (zone.at("unavailable").bool_or(false)) zones += " (none now)";
  }
  for (const json::Value pool : one.at("pools").children())
    pools += (pools.empty() ? "" : ", ") + std::string(pool.text());
  return {
      field(one, "name"),
      field(one, "set"),
      field(one, "market"),
      field(one, "vcpus"),
      gpus_cell(one.at("gpus")),
      format_size(one.at("ram").int_or(0)),
      field(one, "price_per_hour") + (one.at("configured").bool_or(false) ? " (configured)" : ""),
      pools,
      zones};
}

/// A crash after which the call is made again.
std::string crash_text(json::Value crash) {
  const std::string version = field(crash, "version"), output = field(crash, "output");
  return "driver " + field(crash, "driver") + (version.empty() ? "" : " " + version) + " " +
         field(crash, "ending") + " in " + field(crash, "call") +
         (output.empty() ? "" : "; it wrote: " + output);
}

/// Its last list shows far more instances than can be right.
bool has_doubted_instances(json::Value set) {
  return set.at("unknown_instances").has("doubted_since");
}

Row set_row(json::Value one) {
  std::string state = one.at("open").bool_or(false) ? "open" : "not open";
  if (one.at("foreign_owner").bool_or(false)) state += ",foreign_owner";
  if (one.has("reported")) state += ",other_account";
  if (one.has("doubt") || has_doubted_instances(one)) state += ",list_doubted";
  if (one.has("partition")) state += ",partition";
  const json::Value driver = one.at("driver");
  std::string problem = joined(field(one, "problem"), one.at("conditions"));
  for (const json::Value crash : one.at("crashes").children())
    if (!crash.has("until")) {
      const std::string text = crash_text(crash);
      problem = problem.empty() ? text : problem + "; " + text;
    }
  const std::string calls = field(driver, "state");
  if (calls.find(':') != std::string::npos || calls.find(',') != std::string::npos)
    problem = "driver " + calls + (problem.empty() ? "" : "; " + problem);
  const std::string version = field(driver, "version");
  if (driver.has("pending")) problem += (problem.empty() ? "" : "; ") + field(driver, "pending");
  return {field(one, "name"),
          state,
          field(driver, "name") + (version.empty() ? "" : " " + version),
          field(one, "account"),
          field(one, "region"),
          problem};
}

Row gate_row(json::Value one) {
  const std::string failures = field(one, "failures");
  // A boot gate is shut by several boots that failed: it counts how often it was shut.
  const bool is_boot = field(one, "class") == "boot";
  const bool is_price = field(one, "class") == "price";
  return {field(one, "key"),
          one.has("until") ? field(one, "until")
          : is_price       ? "it is opened"
                           : "half-open",
          is_boot ? "shut " + failures + (failures == "1" ? " time" : " times") : failures,
          field(one, "message")};
}

/// The set of this name in the answer of /v1/sets; an error if there is none.
Result<json::Value> find_set(const json::Document& answer, const std::string& name) {
  for (const json::Value one : answer.root().at("sets").children())
    if (one.at("name").text() == name) return one;
  return fail(Errc::kNotFound, "no instance set " + name);
}

std::string account_text(json::Value of) {
  const std::string region = field(of, "region");
  return "account " + field(of, "account") + (region.empty() ? "" : ", region " + region);
}

/// Says which of the instances that the list omits stay although the list was believed.
int show_connected(Client& client, json::Value missing) {
  const auto answer = client.get("/v1/instances");
  if (!answer) return complain(answer.error());
  std::string stay;
  std::size_t count = 0;
  for (const json::Value id : missing.children())
    for (const json::Value one : answer->root().at("instances").children()) {
      if (one.at("id").text() != id.text() || !one.has("unlisted_since")) continue;
      stay += (stay.empty() ? "" : ", ") + std::string(id.text());
      ++count;
    }
  if (count != 0)
    say(stay + (count == 1 ? " stays: its host is" : " stay: their hosts are") + " connected");
  return exit_code::kOk;
}

/// Says what the set's last list shows and what it omits, and how it is believed.
int show_list(json::Value set) {
  const std::string number = field(set, "list");
  const std::string believes = ": hostler sets believe " + field(set, "name") + " --list " + number;
  if (has_doubted_instances(set)) {
    const json::Value unknown = set.at("unknown_instances");
    for (const json::Value id : unknown.at("ids").children()) say(std::string(id.text()));
    say("list " + number + " shows " + field(unknown, "count") +
        " instances that hostlerd does not know, these first. If all of them are this site's" +
        believes);
    return exit_code::kOk;
  }
  const json::Value missing = set.at("missing");
  for (const json::Value id : missing.children()) say(std::string(id.text()));
  if (missing.size() == 0) {
    say("list " + number + " of set " + field(set, "name") + " omits no instance");
    return exit_code::kOk;
  }
  const bool is_one = missing.size() == 1;
  say("list " + number + " omits " + (is_one ? "this instance" : "these instances") + ". If " +
      (is_one ? "it does" : "they do") + " not exist" + believes);
  return exit_code::kOk;
}

}  // namespace

int instances(Client& client, bool json, bool wide) {
  if (wide)
    return list(
        client, "instances", json,
        {"ID", "STATE", "TYPE", "POOL", "VCPUS", "JOBS", "GPUS", "VERIFIED", "ADDRESS", "REASON"},
        wide_instance_row, nullptr, std::numeric_limits<std::size_t>::max());
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

int types(Client& client, bool json) {
  return list(client, "types", json,
              {"TYPE", "SET", "MARKET", "VCPUS", "GPUS", "RAM", "PRICE/H", "POOLS", "ZONES"},
              type_row, "no types yet");
}

int sets(Client& client, bool json) {
  return list(client, "sets", json, {"SET", "STATE", "DRIVER", "ACCOUNT", "REGION", "PROBLEM"},
              set_row);
}

int console(Client& client, const std::string& id, bool json) {
  const auto got = client.get("/v1/instances/" + escape(id) + "/console");
  if (!got) return complain(got.error());
  if (json) return print_json(got->root());
  const auto root = got->root();
  if (root.at("cut").bool_or(false)) say("(there is more before this)");
  if (root.has("as_of")) say("(as of " + field(root, "as_of") + ")");
  for (const std::string_view line : split(root.at("text").text(), '\n')) say(line);
  return exit_code::kOk;
}

int accept_account(Client& client, const std::string& set) {
  const auto before = client.get("/v1/sets");
  if (!before) return complain(before.error());
  const auto done = client.post("/v1/sets/" + escape(set) + "/accept-account", "");
  if (!done) return complain(done.error());
  if (const auto one = find_set(*before, set); one && one->has("reported"))
    say("set " + set + ": " + account_text(*one) + " -> " + account_text(one->at("reported")));
  return exit_code::kOk;
}

int believe_list(Client& client, const std::string& set, std::uint64_t list) {
  const auto answer = client.get("/v1/sets");
  if (!answer) return complain(answer.error());
  const auto one = find_set(*answer, set);
  if (list == 0) return one ? show_list(*one) : complain(one.error());
  std::string body;
  json::Writer w(body);
  w.begin_object().member("list", list).end_object();
  const auto done = client.post("/v1/sets/" + escape(set) + "/believe", body);
  if (!done) return complain(done.error());
  if (!one || has_doubted_instances(*one)) return exit_code::kOk;
  return show_connected(client, one->at("missing"));
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
