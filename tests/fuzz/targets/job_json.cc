#include <memory>
#include <string>

#include "core/agent/protocol.h"
#include "core/api/job_codec.h"
#include "core/base/text.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/wish.h"

/// A job as a submitter sends it, and on its way to store, host and whoever asks for it.
namespace hostler::fuzz {
namespace {

void check_error(const Error& error) {
  promise(error.code == Errc::kInvalidArgument || error.code == Errc::kTooLarge,
          "a bad job is the submitter's fault", error.message);
  promise(error.code == Errc::kTooLarge || error.message.find("at ") != std::string::npos,
          "an error names its place", error.message);
  promise(is_utf8(error.message) && error.message.find('\n') == std::string::npos,
          "an error is one printable line", error.message);
}

void check_limits(const model::JobSpec& spec) {
  const model::JobLimits limits;
  promise(spec.command.empty() != spec.script.empty(), "either a command or a script");
  promise(spec.command.size() <= limits.arguments_max &&
              spec.script.size() <= limits.command_bytes_max &&
              spec.env.size() <= limits.env_count_max &&
              spec.stdin_text.size() <= limits.stdin_bytes_max &&
              spec.inputs.size() <= limits.inputs_max &&
              spec.outputs.size() <= limits.outputs_max &&
              spec.constraints.types.size() <= limits.types_max,
          "no limit is passed");
  promise(spec.needs.vcpus >= 0 && spec.needs.ram >= 0 && spec.needs.scratch >= 0 &&
              spec.needs.gpus >= 0 && spec.time_limit.count() >= 0 && spec.attempts_max > 0,
          "numbers are in their range");
  promise(is_wish(spec.needs, spec.constraints.gpu), "only work with gpus asks for a kind of them");
  for (const model::Input& input : spec.inputs)
    promise(input.path[0] != '/' && input.path != ".." && input.path.find("../") != 0,
            "an input stays in the job's folder", input.path);
}

/// What the submit accepts, the agent's protocol can carry.
void check_start(const model::JobSpec& spec) {
  agent::Start start;
  start.attempt = {model::WorkId{1}, 1};
  start.command = spec.command;
  start.script = spec.script;
  start.env = spec.env;
  start.stdin_text = spec.stdin_text;
  start.inputs = spec.inputs;
  start.outputs = spec.outputs;
  std::string frame;
  const auto encoded = agent::encode(start, frame);
  promise(encoded.has_value(), "a valid job fits a frame", encoded ? "" : encoded.error().message);
}

void check_shown(const model::JobSpec& spec, const std::string& body) {
  model::WorkItem job;
  job.record.id = {1};
  job.name = spec.name;
  job.body = std::make_shared<const std::string>(body);
  for (const auto sight : {api::Sight::kAll, api::Sight::kPublic}) {
    std::string out;
    json::Writer w(out);
    api::write_job(w, job, nullptr, sight);
    const auto shown = json::Document::parse(out, {.bytes_max = out.size()});
    promise(shown.has_value(), "a job is shown as JSON", out);
    const bool all = sight == api::Sight::kAll;
    promise(shown->root().has("env") == (all && !spec.env.empty()), "who only reads sees no env",
            out);
    promise(shown->root().has("stdin") == (all && !spec.stdin_text.empty()),
            "who only reads sees no stdin", out);
  }
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  using namespace hostler::fuzz;
  std::vector<api::LocalInput> local;
  (void)api::read_job(as_text(data, size), {}, &local);

  const auto spec = api::read_job(as_text(data, size));
  if (!spec) return check_error(spec.error()), 0;
  check_limits(*spec);
  const std::string body = api::canonical_body(*spec);
  const auto again = api::read_job(body);
  promise(again && *again == *spec, "what is written reads back the same", body);
  promise(api::canonical_body(*again) == body, "equal jobs give equal text", body);
  check_start(*spec);
  check_shown(*spec, body);
  return 0;
}
