#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "core/api/job_codec.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/job_text.h"
#include "core/crypto/hash.h"
#include "core/json/writer.h"

namespace hostler::cli {
namespace {

constexpr std::size_t kJobsFileMax = std::size_t{256} << 20;

Result<std::string> file_sha256(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return tl::unexpected(errno_error("open " + file, Errc::kInvalidArgument));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(Errc::kInvalidArgument,
                file + " is no regular file: an input is read twice, which a pipe cannot be");
  crypto::Sha256 hash;
  std::string piece(1U << 16U, '\0');
  for (;;) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0) return tl::unexpected(errno_error("read " + file, Errc::kInvalidArgument));
    if (got == 0) break;
    hash.update(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
  }
  const auto digest = hash.finish();
  return to_hex(digest);
}

/// Sends what the daemon lacks, and names it in the job by its content.
Result<void> upload_inputs(Client& client, model::JobSpec& spec,
                           const std::vector<api::LocalInput>& local) {
  for (const auto& one : local) {
    const std::string sha256 = HOSTLER_TRY(file_sha256(one.from));
    const std::string path = "/v1/blobs/" + sha256;
    if (!HOSTLER_TRY(client.has(path))) HOSTLER_TRY(client.put_file(path, one.from));
    spec.inputs[one.index].sha256 = sha256;
  }
  return {};
}

/// Where in the job's text something is wrong; of no use where the text is made of options.
Error without_place(Error error) {
  if (const std::size_t at = error.message.rfind(" (at "); at != std::string::npos)
    error.message.resize(at);
  return error;
}

/// Reads, uploads and appends one job to the request.
Result<void> add_job(Client& client, json::Writer& request, const std::string& text, int index) {
  std::vector<api::LocalInput> local;
  auto spec = HOSTLER_TRY(api::read_job(text, {}, &local));
  HOSTLER_TRY(upload_inputs(client, spec, local));
  // Each of an array is a job of its own, so it has a key of its own.
  if (index >= 0 && !spec.client_key.empty()) spec.client_key += "." + std::to_string(index);
  if (index >= 0) spec.env.emplace_back("HOSTLER_ARRAY_INDEX", std::to_string(index));
  request.raw(api::canonical_body(spec));
  return {};
}

Result<void> add_jobs(Client& client, json::Writer& request, const SubmitOptions& options) {
  if (options.file.empty()) {
    const auto text = HOSTLER_TRY(job_text(options));
    for (int i = 0; i < std::max(options.array, 1); ++i)
      if (auto added = add_job(client, request, text, options.array > 0 ? i : -1); !added)
        return tl::unexpected(without_place(std::move(added.error())));
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
    if (auto added = add_job(client, request, std::string(line), -1); !added)
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
  return fail(Errc::kInternal, "the daemon gave no id");
}

int submit(Client& client, const SubmitOptions& options) {
  const int ways = (options.command.empty() ? 0 : 1) + (options.script.empty() ? 0 : 1) +
                   (options.file.empty() ? 0 : 1);
  if (ways != 1)
    return complain({Errc::kInvalidArgument,
                     "exactly one is needed: -- COMMAND..., --script FILE or --file JOBS"});
  std::string body;
  json::Writer request(body);
  request.begin_object().key("jobs").begin_array();
  if (auto added = add_jobs(client, request, options); !added) return complain(added.error());
  request.end_array().end_object();
  const auto answer = client.post("/v1/jobs", body);
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
