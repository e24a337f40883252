#include <cstdio>

#include "core/base/units.h"
#include "core/cli/commands.h"
#include "core/cli/table.h"

/// Quotas, and the deletion of kept outputs.
namespace hostler::cli {
namespace {

/// "5/10"; "-" in place of a limit that there is not.
std::string use_of(json::Value one, const char* now, const char* limit) {
  const auto limits = one.at("limits");
  return field(one.at("now"), now) + "/" + (limits.has(limit) ? field(limits, limit) : "-");
}

std::string size_of(json::Value part, const char* key) {
  return part.has(key) ? format_size(part.at(key).int_or(0)) : "-";
}

std::string bytes_of(json::Value one, const char* now, const char* limit) {
  return size_of(one.at("now"), now) + "/" + size_of(one.at("limits"), limit);
}

std::string limit_of(json::Value one, const char* key) {
  const auto limits = one.at("limits");
  return limits.has(key) ? field(limits, key) : "-";
}

}  // namespace

int quotas(Client& client, const std::string& principal, bool json) {
  const auto got = client.get(Query("/v1/quotas").add("principal", principal).text());
  if (!got) return complain(got.error());
  if (json) return print_json(got->root());
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : got->root().at("quotas").children())
    rows.push_back({field(one, "principal"), field(one, "role"),
                    use_of(one, "jobs_waiting", "jobs_waiting_max"),
                    use_of(one, "shapes_waiting", "shapes_waiting_max"),
                    // Without a limit they are not counted.
                    one.at("limits").has("submits_per_minute_max")
                        ? use_of(one, "submits_last_minute", "submits_per_minute_max")
                        : "-",
                    bytes_of(one, "blob_bytes", "blob_bytes_max"),
                    bytes_of(one, "output_bytes", "output_bytes_max"),
                    limit_of(one, "priority_max"),
                    use_of(one, "running_vcpus", "running_vcpus_max"),
                    use_of(one, "running_gpus", "running_gpus_max"),
                    use_of(one, "running_price_per_hour", "running_price_per_hour_max")});
  std::fputs(format_table({"PRINCIPAL", "ROLE", "WAITING", "SHAPES", "SUBMITS/MIN", "INPUTS",
                           "OUTPUTS", "PRIORITY", "VCPUS", "GPUS", "PRICE/H"},
                          rows, terminal_width())
                 .c_str(),
             stdout);
  return exit_code::kOk;
}

int remove_outputs(Client& client, const std::vector<std::string>& ids) {
  int status = exit_code::kOk;
  for (const auto& id : ids) {
    const auto done = client.remove("/v1/jobs/" + escape(id) + "/outputs");
    if (done)
      say(id + ": output deleted, " + format_size(done->root().at("bytes").int_or(0)));
    else
      status = complain(done.error());
  }
  return status;
}

}  // namespace hostler::cli
