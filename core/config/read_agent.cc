#include <algorithm>
#include <cctype>

#include "core/config/readers.h"

namespace hostler::config {
namespace {

void read_job_limits(json::Object& o, model::JobLimits& out) {
  // The defaults are also the maxima: a job at all limits fills one frame of the agent's protocol.
  const auto up_to_default = [&](std::string_view key, std::size_t& value) {
    o.may(key).integer(value, 0, static_cast<std::int64_t>(value));
  };
  const auto bytes_up_to_default = [&](std::string_view key, std::size_t& value) {
    auto size = static_cast<std::int64_t>(value);
    if (o.may(key).size(size, 0, size)) value = static_cast<std::size_t>(size);
  };
  up_to_default("arguments_max", out.arguments_max);
  bytes_up_to_default("argument_max", out.argument_bytes_max);
  bytes_up_to_default("command_max", out.command_bytes_max);
  up_to_default("env_count_max", out.env_count_max);
  bytes_up_to_default("env_max", out.env_bytes_max);
  bytes_up_to_default("stdin_max", out.stdin_bytes_max);
  up_to_default("inputs_max", out.inputs_max);
  up_to_default("outputs_max", out.outputs_max);
}

/// The path becomes part of a shell script, so it must not need quoting.
bool is_plain_path(std::string_view path) {
  return path.starts_with('/') && std::all_of(path.begin(), path.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' ||
                  c == '_' || c == '-';
         });
}

}  // namespace

void read_agent(json::Object& o, Agent& out) {
  const json::Field folder = o.may("folder");
  if (folder.text(out.folder, {.bytes_max = 200, .bytes_min = 1, .one_line = true}) &&
      !is_plain_path(out.folder))
    folder.refuse("an absolute path on the host, made of letters, digits and / . _ -");
  const json::Field count = o.may("uid_count");
  o.may("uid_first").integer(out.uid_first, 1000, INT32_MAX);
  count.integer(out.uid_count, 0, 1'000'000);
  if (std::int64_t{out.uid_first} + out.uid_count > INT32_MAX)
    count.problem("uid_first plus uid_count exceeds the highest uid, 2147483647");
  o.may("blobs_max").size(out.blobs_max, 0, std::int64_t{1} << 44);
  o.may("output_head_max").size(out.output_head_max, 0, std::int64_t{1} << 34);
  o.may("output_tail_max").size(out.output_tail_max, 0, std::int64_t{1} << 34);
  o.may("processes_max").integer(out.processes_max, 0, 4'194'304);
  o.may("kill_grace").duration(out.kill_grace, 100ms, 1h);
}

void read_limits(json::Object& o, Limits& out) {
  o.may("jobs_per_submit_max").integer(out.jobs_per_submit_max, 1, 1'000'000);
  o.may("body_max").size(out.body_max, std::int64_t{64} * 1024, std::int64_t{1} << 30);
  o.may("blob_max").size(out.blob_max, 0, std::int64_t{1} << 44);
  o.may("job").object([&](json::Object& job) { read_job_limits(job, out.job); });
}

}  // namespace hostler::config
