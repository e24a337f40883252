#include <algorithm>
#include <cstdio>
#include <string>

#include "core/api/job_codec.h"
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/job_text.h"
#include "core/cli/plan_text.h"
#include "core/cli/uploads.h"
#include "core/cli/work_text.h"
#include "core/json/writer.h"

namespace hostler::cli {
namespace {

constexpr std::size_t kJobsFileMax = std::size_t{256} << 20;

/// Parses the JSON of one job, uploads its inputs, and appends the job to the request. `index`: of
/// an array job, else -1.
Result<void> add_job(Uploads& uploads, json::Writer& request, const std::string& text, int index) {
  std::vector<api::LocalInput> local;
  auto spec = HOSTLER_TRY(api::read_job(text, {}, &local));
  HOSTLER_TRY(uploads.upload(spec, local));
  // Each element of an array is a separate job and needs a separate key.
  if (index >= 0 && !spec.client_key.empty()) spec.client_key += "." + std::to_string(index);
  if (index >= 0) spec.env.emplace_back("HOSTLER_ARRAY_INDEX", std::to_string(index));
  request.raw(api::canonical_body(spec));
  return {};
}

Result<void> add_jobs(Client& client, json::Writer& request, const SubmitOptions& options) {
  Uploads uploads(client, !options.dry_run);
  if (options.file.empty()) {
    const auto text = HOSTLER_TRY(job_text(options));
    for (int i = 0; i < std::max(options.array, 1); ++i)
      if (auto added = add_job(uploads, request, text, options.array > 0 ? i : -1); !added)
        return tl::unexpected(without_position(std::move(added.error())));
    return {};
  }
  auto read = read_argument(options.file, kJobsFileMax);
  if (!read) return tl::unexpected(std::move(read.error()).with_context("--file"));
  const std::string lines = std::move(*read);
  const std::string name = options.file == "-" ? "standard input" : options.file;
  int number = 0;
  for (const auto line : split(lines, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (auto added = add_job(uploads, request, std::string(line), -1); !added)
      return tl::unexpected(
          std::move(added.error()).with_context(name + " line " + std::to_string(number)));
  }
  return {};
}

}  // namespace

Result<std::string> submit_one(Client& client, const SubmitOptions& options) {
  std::string body;
  json::Writer request(body);
  request.begin_object().key("jobs").begin_array();
  HOSTLER_TRY(add_jobs(client, request, options));
  request.end_array().end_object();
  const auto answer = HOSTLER_TRY(client.post("/v1/jobs", body));
  for (const json::Value id : answer.root().at("ids").children()) return std::string(id.text());
  return fail(Errc::kInternal, "the answer of the daemon has no job id");
}

namespace {

/// The body of a submit.
Result<std::string> request_of(Client& client, const SubmitOptions& options) {
  const int ways = (options.command.empty() ? 0 : 1) + (options.script.empty() ? 0 : 1) +
                   (options.file.empty() ? 0 : 1);
  if (ways != 1)
    return fail(Errc::kInvalidArgument,
                "give exactly one of these: -- COMMAND..., --script FILE, --file JOBS");
  std::string body;
  json::Writer request(body);
  request.begin_object().key("jobs").begin_array();
  HOSTLER_TRY(add_jobs(client, request, options));
  request.end_array().end_object();
  return body;
}

}  // namespace

int dry_run(Client& client, const SubmitOptions& options) {
  const auto body = request_of(client, options);
  if (!body) return complain(body.error());
  const auto answer = client.post("/v1/dry-run", *body);
  if (!answer) return complain(answer.error());
  return show_dry_run(answer->root(), options.json);
}

int submit(Client& client, const SubmitOptions& options) {
  const auto body = request_of(client, options);
  if (!body) return complain(body.error());
  const auto answer = client.post("/v1/jobs", *body);
  if (!answer) return complain(answer.error());
  std::vector<std::string> ids;
  for (const json::Value id : answer->root().at("ids").children()) ids.emplace_back(id.text());
  if (options.json) {
    print_json(answer->root());
  } else if (!options.wait || ids.size() > 1) {
    for (const auto& id : ids) std::puts(id.c_str());
    std::fflush(stdout);
  }
  if (!options.wait) return exit_code::kOk;
  return ids.size() == 1 ? wait_for_job(client, ids[0], true) : wait_all(client, ids, false);
}

}  // namespace hostler::cli
