#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/cli/commands.h"
#include "core/json/document.h"

/// `hostler simulate --record`: the jobs of the daemon as a trace in the Standard Workload Format.
namespace hostler::cli {
namespace {

constexpr std::size_t kJobsMax = 1'000'000;

/// The ids of all jobs, oldest first.
Result<std::vector<std::string>> all_jobs(Client& client) {
  std::vector<std::string> out;
  std::string before;
  do {
    const auto page = HOSTLER_TRY(
        client.get(Query("/v1/jobs").add("limit", 10'000U).add("before", before).text()));
    for (const json::Value one : page.root().at("jobs").children()) out.push_back(field(one, "id"));
    before = field(page.root(), "next");
  } while (!before.empty() && out.size() < kJobsMax);
  std::ranges::reverse(out);
  return out;
}

/// One job as a line of the trace.
struct Recorded {
  Wall submitted;
  double wait = -1, runs = -1;  ///< Seconds; -1: it has not started.
  double vcpus = 1;
  std::int64_t ram = 0;  ///< Bytes.
  std::size_t user = 0;
  int status = -1;
};

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

/// The number of the format for how a job ended.
int status_of(const std::string& state) {
  if (state == "succeeded") return 1;
  if (state == "failed") return 0;
  return state == "cancelled" ? 5 : -1;
}

std::optional<Recorded> read(json::Value job, std::map<std::string, std::size_t>& users) {
  const auto submitted = parse_wall(field(job, "submitted"));
  if (!submitted) return std::nullopt;
  Recorded out{.submitted = *submitted};
  const auto started = parse_wall(field(job, "started")), ended = parse_wall(field(job, "ended"));
  if (started) out.wait = std::max(0.0, seconds(*started - *submitted));
  if (started && ended) out.runs = std::max(0.0, seconds(*ended - *started));
  const json::Value needs = job.at("needs");
  out.vcpus = std::max(1.0, std::atof(field(needs, "vcpus").c_str()));
  out.ram = parse_size(field(needs, "ram")).value_or(0);
  out.user = users.try_emplace(field(job, "principal"), users.size() + 1).first->second;
  out.status = status_of(field(job, "state"));
  return out;
}

std::string line_of(std::size_t number, const Recorded& job, Wall first) {
  constexpr double kBytesPerKb = 1024;
  const auto whole = [](double value) { return std::to_string(std::llround(value)); };
  const auto processors = std::ceil(job.vcpus);
  // Memory is that of each processor.
  const std::string memory =
      job.ram > 0 ? whole(std::ceil(static_cast<double>(job.ram) / kBytesPerKb / processors))
                  : "-1";
  const std::string runs = job.runs < 0 ? "-1" : whole(std::max(1.0, std::ceil(job.runs)));
  return std::to_string(number) + " " + whole(seconds(job.submitted - first)) + " " +
         whole(job.wait) + " " + runs + " " + whole(processors) + " -1 -1 " + whole(processors) +
         " -1 " + memory + " " + std::to_string(job.status) + " " + std::to_string(job.user) +
         " -1 -1 -1 -1 -1 -1\n";
}

}  // namespace

int record(Client& client, const std::string& file) {
  const auto ids = all_jobs(client);
  if (!ids) return complain(ids.error());
  std::map<std::string, std::size_t> users;
  std::string lines;
  std::optional<Wall> first;
  Wall last;
  std::size_t number = 0;
  for (const std::string& id : *ids) {
    const auto job = client.get("/v1/jobs/" + escape(id));
    if (!job && job.error().code == Errc::kNotFound) continue;  // Removed meanwhile.
    if (!job) return complain(job.error());
    auto recorded = read(job->root(), users);
    if (!recorded) continue;
    if (!first) first = last = recorded->submitted;
    // The clock of the daemon may have been set back: a trace is in the order of its times.
    last = recorded->submitted = std::max(last, recorded->submitted);
    lines += line_of(++number, *recorded, *first);
  }
  std::string text = "; Version: 2.2\n; Computer: hostler\n; MaxJobs: " + std::to_string(number) +
                     "\n; UnixStartTime: " + std::to_string(first ? first->us / 1'000'000 : 0) +
                     "\n";
  for (const auto& [name, user] : users)
    text += "; User " + std::to_string(user) + ": " + printable(name, 200) + "\n";
  if (ids->size() >= kJobsMax)
    warn("only the newest " + std::to_string(ids->size()) + " jobs are in the trace");
  const auto written = write_file(file, text + lines, 0644);
  if (!written) return complain(written.error());
  say(std::to_string(number) + " jobs of " + std::to_string(users.size()) +
      " users; use it in a scenario: \"load\": [{\"swf\": \"" + file + "\"}]");
  return exit_code::kOk;
}

}  // namespace hostler::cli
