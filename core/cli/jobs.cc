#include <fcntl.h>

#include <cstdio>
#include <filesystem>

#include "core/base/files.h"
#include "core/cli/beneath.h"
#include "core/cli/commands.h"
#include "core/cli/table.h"
#include "core/cli/work_rows.h"
#include "core/json/writer.h"

/// Commands for existing jobs. submit.cc creates jobs, wait.cc waits for them.
namespace hostler::cli {
namespace {

/// Removes the fraction of a second from a time of the API.
std::string to_the_second(const std::string& time) {
  const std::size_t dot = time.find('.');
  return dot == std::string::npos ? time : time.substr(0, dot) + "Z";
}

/// Returns the file's path beneath `base`. The daemon has checked the path; it is checked again,
/// because it names a local file.
Result<std::string> fetch_file(Client& client, const std::string& id, json::Value file,
                               const UniqueFd& base, bool partial) {
  const std::string path(file.at("path").text_or(""));
  const auto size = file.at("size").int_or(-1);
  if (size < 0) return fail(Errc::kMisbehaving, "the daemon lists a file without a size");
  auto local = HOSTLER_TRY(FileBeneath::create(base, path));
  const std::string from = "/v1/jobs/" + escape(id) + "/files/" + escape(path);
  HOSTLER_TRY(client.get_file(from + (partial ? "?partial=1" : ""), local.fd(),
                              static_cast<std::uint64_t>(size)));
  HOSTLER_TRY(local.finish());
  return path;
}

}  // namespace

int jobs(Client& client, const JobsOptions& options) {
  const auto got = client.get(Query("/v1/jobs")
                                  .add("limit", static_cast<std::uint64_t>(options.limit))
                                  .add("state", options.state)
                                  .add("name", options.name)
                                  .add("principal", options.principal)
                                  .text());
  if (!got) return complain(got.error());
  if (options.json) return print_json(got->root());
  std::vector<std::vector<std::string>> rows;
  for (const json::Value one : got->root().at("jobs").children())
    rows.push_back({field(one, "id"), field(one, "state"), field(one, "name"),
                    field(one, "instance"), field(one, "exit_status"),
                    to_the_second(field(one, "submitted")), why_so(one)});
  std::fputs(format_table({"ID", "STATE", "NAME", "INSTANCE", "EXIT", "SUBMITTED", "REASON"}, rows,
                          terminal_width())
                 .c_str(),
             stdout);
  if (const auto next = field(got->root(), "next"); !next.empty())
    warn("there are more jobs, older than " + next + "; use a higher --limit");
  return exit_code::kOk;
}

int give_up_outputs(Client& client, const std::vector<std::string>& ids) {
  return act_on_work(client, ids, "outputs/give-up");
}

int act_on_held(Client& client, const std::string& action) {
  const auto done = client.post("/v1/held/" + action, "");
  if (!done) return complain(done.error());
  const std::string done_to = action == "cancel" ? "cancelled" : "released";
  say(std::to_string(done->root().at("ids").size()) + " held jobs and leases " + done_to);
  return exit_code::kOk;
}

int fetch(Client& client, const std::string& id, const std::string& folder, bool partial) {
  const auto got = client.get("/v1/jobs/" + escape(id) + "/files");
  if (!got) return complain(got.error());
  if (got->root().at("files").size() == 0) warn(id + " has no output files");
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  const UniqueFd base(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!base) return complain(errno_error("open " + folder, Errc::kInvalidArgument));
  int worst = exit_code::kOk;
  for (const json::Value file : got->root().at("files").children())
    if (const auto done = fetch_file(client, id, file, base, partial); done) {
      say((std::filesystem::path(folder) / *done).string());
    } else if (worst = complain(done.error()); done.error().code != Errc::kConflict) {
      break;
    }
  return worst;
}

}  // namespace hostler::cli
