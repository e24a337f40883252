#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "core/api/job_codec.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/crypto/hash.h"
#include "core/json/writer.h"

namespace hostler::cli {
namespace {

constexpr std::size_t kJobsFileMax = std::size_t{256} << 20;

/// A whole file, or standard input for "-".
Result<std::string> read_argument(const std::string& name, std::size_t max) {
  if (name != "-") {
    auto all = read_file(name, max);
    if (!all && all.error().code == Errc::kNotFound) all.error().code = Errc::kInvalidArgument;
    return all;
  }
  std::string all{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  if (all.size() > max)
    return fail(Errc::kTooLarge, "standard input is larger than " + std::to_string(max) + " bytes");
  return all;
}

/// One job's JSON from the command line. Words that are no job's are refused by read_job.
Result<std::string> job_text(const SubmitOptions& o) {
  std::string out;
  json::Writer w(out);
  w.begin_object();
  if (!o.command.empty()) {
    w.key("command").begin_array();
    for (const auto& word : o.command) w.value(word);
    w.end_array();
  }
  if (!o.script.empty()) w.member("script", HOSTLER_TRY(read_argument(o.script, 4U << 20U)));
  if (!o.name.empty()) w.member("name", o.name);
  w.key("needs").begin_object();
  if (o.vcpus > 0) w.member("vcpus", o.vcpus);
  if (!o.ram.empty()) w.member("ram", o.ram);
  if (!o.scratch.empty()) w.member("scratch", o.scratch);
  if (o.gpus > 0) w.member("gpus", o.gpus);
  w.end_object();
  if (o.priority != 0) w.member("priority", o.priority);
  if (!o.time_limit.empty()) w.member("time_limit", o.time_limit);
  if (!o.env.empty()) {
    w.key("env").begin_object();
    for (const auto& pair : o.env) {
      const std::size_t equals = pair.find('=');
      if (equals == std::string::npos)
        return fail(Errc::kInvalidArgument, "--env " + pair + ": NAME=VALUE is needed");
      w.member(pair.substr(0, equals), pair.substr(equals + 1));
    }
    w.end_object();
  }
  if (!o.stdin_file.empty()) w.member("stdin", HOSTLER_TRY(read_argument(o.stdin_file, 1U << 20U)));
  if (!o.inputs.empty()) {
    w.key("inputs").begin_array();
    for (const auto& input : o.inputs) {
      const std::size_t equals = input.find('=');
      const std::string from = equals == std::string::npos ? input : input.substr(equals + 1);
      w.begin_object().member("path", input.substr(0, equals)).member("from", from).end_object();
    }
    w.end_array();
  }
  if (!o.outputs.empty()) {
    w.key("outputs").begin_array();
    for (const auto& pattern : o.outputs) w.value(pattern);
    w.end_array();
  }
  if (!o.type.empty() || !o.market.empty() || !o.zone.empty()) {
    w.key("constraints").begin_object();
    if (!o.type.empty()) {
      w.key("types").begin_array();
      for (const auto type : split(o.type, ',')) w.value(type);
      w.end_array();
    }
    if (!o.market.empty()) w.member("market", o.market);
    if (!o.zone.empty()) w.member("zone", o.zone);
    w.end_object();
  }
  if (o.restartable) w.member("restartable", true);
  if (o.attempts_max > 0) w.member("attempts_max", o.attempts_max);
  if (!o.client_key.empty()) w.member("client_key", o.client_key);
  w.end_object();
  return out;
}

Result<std::string> file_sha256(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return tl::unexpected(errno_error("open " + file, Errc::kInvalidArgument));
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
  const auto lines = HOSTLER_TRY(read_argument(options.file, kJobsFileMax));
  int number = 0;
  for (const auto line : split(lines, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (auto added = add_job(client, request, std::string(line), -1); !added)
      return tl::unexpected(
          std::move(added.error()).with_context(options.file + " line " + std::to_string(number)));
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
    std::puts(json::to_text(answer->root()).c_str());
  } else if (!options.wait || ids.size() > 1) {
    for (const auto& id : ids) std::puts(id.c_str());
    std::fflush(stdout);
  }
  if (!options.wait) return exit_code::kOk;
  return ids.size() == 1 ? wait_for_job(client, ids[0], true) : wait_all(client, ids);
}

}  // namespace hostler::cli
