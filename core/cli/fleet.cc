#include <cstdio>

#include "core/base/units.h"
#include "core/cli/commands.h"
#include "core/cli/table.h"
#include "core/json/writer.h"

/// Commands about the fleet.
namespace hostler::cli {
namespace {

/// A member as text, whatever its kind; empty where there is none.
std::string field(json::Value value, const char* key) {
  return value.has(key) ? std::string(value.at(key).text()) : std::string();
}

int print_json(const json::Document& document) {
  std::puts(json::to_text(document.root()).c_str());
  return exit_code::kOk;
}

}  // namespace

int instances(Client& client, bool json) {
  const auto got = client.get("/v1/instances");
  if (!got) return complain(got.error());
  if (json) return print_json(*got);
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : got->root().at("instances").children()) {
    const auto used = one.at("used");
    const auto total = one.at("total");
    std::string state = field(one, "state");
    if (field(one, "idle_behavior") != "run") state += "," + field(one, "idle_behavior");
    if (field(one, "health") != "healthy") state += "," + field(one, "health");
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
  if (json) return print_json(*got);
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

int why(Client& client, const std::string& subject, bool json) {
  const auto got = client.get("/v1/why?subject=" + escape(subject));
  if (!got) return complain(got.error());
  if (json) return print_json(*got);
  const auto root = got->root();
  if (const auto waiting = root.at("waiting_because"); waiting.is(json::Kind::kObject))
    std::printf("%s waits: %s (%s jobs go first)\n", subject.c_str(),
                field(waiting, "reason").c_str(), field(waiting, "ahead").c_str());
  for (const json::Value one : root.at("rejected").children())
    std::printf("  not on %s %s %s: %s\n", field(one, "type").c_str(), field(one, "zone").c_str(),
                field(one, "market").c_str(), field(one, "reason").c_str());
  for (const json::Value gate : root.at("gates").children())
    std::printf("  gate %s is shut until %s: %s\n", field(gate, "key").c_str(),
                field(gate, "until").c_str(), field(gate, "message").c_str());
  for (const json::Value record : root.at("records").children()) {
    const std::string reason = field(record, "reason");
    const std::string code = field(record, "reason_code");
    std::printf("  %s  %-10s %s%s%s%s\n", format_wall({record.at("time_us").int_or(0)}).c_str(),
                field(record, "actor").c_str(), field(record, "event").c_str(),
                code.empty() ? "" : (" [" + code + "]").c_str(), reason.empty() ? "" : ": ",
                reason.c_str());
  }
  if (root.at("records").size() == 0) std::puts("  nothing is recorded yet");
  return exit_code::kOk;
}

int events(Client& client, std::uint64_t after) {
  const auto done =
      client.follow("/v1/events?after=" + std::to_string(after), [](std::string_view data) {
        std::printf("%.*s\n", static_cast<int>(data.size()), data.data());
        std::fflush(stdout);
        return true;
      });
  return done ? exit_code::kOk : complain(done.error());
}

}  // namespace hostler::cli
