#include "core/api/job_codec.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::api {
namespace {

using json::Field;
using json::Object;
using json::Writer;
using namespace std::chrono_literals;

bool read_command(const Field& field, const model::JobLimits& limits,
                  std::vector<std::string>& out) {
  if (!field.texts(out, limits.arguments_max, {.bytes_max = limits.argument_bytes_max}))
    return false;
  if (out.empty() || out[0].empty())
    return field.problem("the command is empty, allowed: a program and its arguments");
  std::size_t bytes = 0;
  for (const std::string& argument : out) bytes += argument.size() + 1;
  if (bytes > limits.command_bytes_max)
    return field.problem("found " + std::to_string(bytes) + " bytes in all, allowed: at most " +
                             std::to_string(limits.command_bytes_max),
                         Errc::kTooLarge);
  return true;
}

bool is_variable(std::string_view name) {
  const auto is_word = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= 255 && std::ranges::all_of(name, is_word) &&
         !(name[0] >= '0' && name[0] <= '9');
}

void read_env(const Field& field, const model::JobLimits& limits, model::JobSpec& spec) {
  std::size_t bytes = 0;
  field.members(limits.env_count_max, [&](std::string_view name, const Field& value) {
    if (!is_variable(name)) {
      value.problem("a variable's name has letters, digits and _, and begins with no digit");
      return;
    }
    auto& [key, text] = spec.env.emplace_back(name, "");
    value.text(text, {.bytes_max = limits.argument_bytes_max, .secret = true});
    bytes += key.size() + text.size() + 2;
  });
  if (bytes > limits.env_bytes_max)
    field.problem("found " + std::to_string(bytes) + " bytes in all, allowed: at most " +
                      std::to_string(limits.env_bytes_max),
                  Errc::kTooLarge);
  std::ranges::sort(spec.env);
}

/// Whether the path is relative and stays below the working folder.
bool is_inside(std::string_view path) {
  return !path.empty() && std::ranges::none_of(split(path, '/'), [](std::string_view step) {
    return step.empty() || step == "." || step == ".." || step.size() > 255;
  });
}

bool read_path(const Field& field, std::string& out) {
  if (!field.text(out, {.bytes_max = 1024, .one_line = true})) return false;
  return is_inside(out) ||
         field.refuse("a path relative to the job's folder, without //, . and .. in it");
}

/// Refuses two inputs with the same path, and an input inside another one.
void check_apart(const Field& field, const std::vector<model::Input>& inputs) {
  std::set<std::string_view> paths;
  for (const model::Input& input : inputs)
    if (!paths.insert(input.path).second)
      field.problem("two inputs are to be " + json::path_step(input.path).substr(1));
  for (const std::string_view path : paths)
    for (std::size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1))
      if (paths.contains(path.substr(0, at)))
        field.problem(printable(path, 100) + " lies inside another input");
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

void read_inputs(const Field& field, const model::JobLimits& limits, model::JobSpec& spec,
                 std::vector<LocalInput>* local) {
  field.each(limits.inputs_max, [&](const Field& element) {
    model::Input& input = spec.inputs.emplace_back();
    element.object([&](Object& o) {
      read_path(o.need("path"), input.path);
      o.may("executable").boolean(input.executable);
      if (local != nullptr && o.exactly_one({"sha256", "from"}) == "from") {
        local->push_back({.index = spec.inputs.size() - 1, .from = {}});
        o.may("from").text(local->back().from, {.bytes_max = 4096, .bytes_min = 1});
        return;
      }
      const Field sha256 = local != nullptr ? o.may("sha256") : o.need("sha256");
      if (sha256.text(input.sha256, {.bytes_max = 64}) && !is_sha256(input.sha256))
        sha256.refuse("64 digits out of 0-9 a-f");
    });
  });
  check_apart(field, spec.inputs);
}

void read_members(Object& o, const model::JobLimits& limits, model::JobSpec& spec,
                  std::vector<LocalInput>* local) {
  if (o.exactly_one({"command", "script"}) == "command")
    read_command(o.may("command"), limits, spec.command);
  else
    o.may("script").text(spec.script, {.bytes_max = limits.command_bytes_max, .bytes_min = 1});
  read_common(o, limits, spec);
  o.may("time_limit").duration(spec.time_limit, 1ms, 24h * 3650);
  read_env(o.may("env"), limits, spec);
  o.may("stdin").text(spec.stdin_text,
                      {.bytes_max = limits.stdin_bytes_max, .nul_allowed = true, .secret = true});
  read_inputs(o.may("inputs"), limits, spec, local);
  o.may("outputs").each(limits.outputs_max, [&](const Field& pattern) {
    read_path(pattern, spec.outputs.emplace_back());
  });
  o.may("restartable").boolean(spec.restartable);
  o.may("attempts_max").integer(spec.attempts_max, 1, 1000);
  o.may("start_failures_max").integer(spec.start_failures_max, 1, 100);
  o.may("interruption_command")
      .text(spec.interruption_command, {.bytes_max = limits.argument_bytes_max, .bytes_min = 1});
}

void write_inputs(Writer& w, const std::vector<model::Input>& inputs) {
  if (inputs.empty()) return;
  w.key("inputs").begin_array();
  for (const model::Input& input : inputs) {
    w.begin_object().member("path", input.path).member("sha256", input.sha256);
    if (input.executable) w.member("executable", true);
    w.end_object();
  }
  w.end_array();
}

/// The members that are known at the end of an attempt.
void write_end(Writer& w, const model::WorkRecord& record) {
  const auto status = model::exit_status(record.reason, record.exit_code, record.signal);
  if (status) w.member("exit_status", *status);
  if (record.signal != 0) w.member("signal", record.signal);
  if (record.ended.us == 0) return;
  w.member("cpu", exact_duration(std::chrono::microseconds(record.cpu_us)));
  w.member("ram_peak", exact_size(record.ram_peak));
  w.member("stdout_bytes", record.stdout_bytes).member("stderr_bytes", record.stderr_bytes);
}

/// The submitted members that everybody sees who sees the job; a new one is hidden until it is
/// here.
bool is_public(std::string_view key) {
  constexpr std::array<std::string_view, 7> kPublic{
      "needs",       "priority",     "time_limit",        "constraints",
      "restartable", "attempts_max", "start_failures_max"};
  return std::ranges::find(kPublic, key) != kPublic.end();
}

/// Copies the members of the body, except those that `sight` hides.
void write_body(Writer& w, std::string_view body, Sight sight) {
  const auto document = json::Document::parse(body, {.bytes_max = body.size()});
  if (!document) return;  // A damaged row of the store: the rest of the job is still shown.
  for (const json::Value member : document->root().children()) {
    const std::string_view key = member.key();
    if (key != "name" && (sight == Sight::kAll || is_public(key))) w.key(key).value(member);
  }
}

}  // namespace

bool read_job(const Field& field, const model::JobLimits& limits, model::JobSpec& out,
              std::vector<LocalInput>* local) {
  if (!field.value()) return false;
  json::Problems problems;
  model::JobSpec spec;
  Field(field.value(), problems).object([&](Object& o) { read_members(o, limits, spec, local); });
  field.pass_on(problems);
  if (!problems.ok()) return false;
  out = std::move(spec);
  return true;
}

Result<model::JobSpec> read_job(std::string_view json, const model::JobLimits& limits,
                                std::vector<LocalInput>* local) {
  const auto document =
      HOSTLER_TRY(json::Document::parse(json, {.bytes_max = kJobJsonBytesMax, .depth_max = 8}));
  json::Problems problems;
  model::JobSpec spec;
  read_job(Field(document.root(), problems), limits, spec, local);
  HOSTLER_TRY(problems.result());
  return spec;
}

std::string canonical_body(const model::JobSpec& spec) {
  std::string out;
  Writer w(out, Writer::Disruptive::kAsItIs);
  w.begin_object();
  if (!spec.name.empty()) w.member("name", spec.name);
  write_texts(w, "command", spec.command);
  if (!spec.script.empty()) w.member("script", spec.script);
  write_needs(w, spec.needs, spec.constraints.gpu);
  if (spec.priority != 0) w.member("priority", spec.priority);
  if (spec.time_limit != Duration{}) w.member("time_limit", exact_duration(spec.time_limit));
  if (!spec.env.empty()) {
    w.key("env").begin_object();
    for (const auto& [name, value] : spec.env) w.member(name, value);
    w.end_object();
  }
  if (!spec.stdin_text.empty()) w.member("stdin", spec.stdin_text);
  write_inputs(w, spec.inputs);
  write_texts(w, "outputs", spec.outputs);
  write_constraints(w, spec.constraints);
  if (spec.restartable) w.member("restartable", true);
  w.member("attempts_max", spec.attempts_max);
  // Not the default: the digests of earlier versions are without it.
  if (spec.start_failures_max != model::kStartFailuresMax)
    w.member("start_failures_max", spec.start_failures_max);
  if (!spec.interruption_command.empty())
    w.member("interruption_command", spec.interruption_command);
  if (!spec.client_key.empty()) w.member("client_key", spec.client_key);
  w.end_object();
  return out;
}

model::WorkItem submitted_job(const model::JobSpec& spec) {
  model::WorkItem out = submitted_work(spec, canonical_body(spec));
  out.shape.restartable = spec.restartable;
  out.shape.attempts_max = spec.attempts_max;
  out.shape.start_failures_max = spec.start_failures_max;
  return out;
}

void write_job(Writer& w, const model::WorkItem& job, const model::WaitingView* waiting,
               Sight sight, const std::vector<std::string>& cards) {
  const model::WorkRecord& record = job.record;
  w.begin_object();
  write_head(w, job, to_string(record.state), sight);
  write_end(w, record);
  if (record.attempt != 0) w.member("attempt", record.attempt);
  if (record.instance) w.member("instance", record.instance.text());
  write_texts(w, "cards", cards);
  if (record.started.us != 0) w.member("limits", record.limits_enforced ? "cgroup" : "none");
  if (record.cancel_requested) w.member("cancel_requested", true);
  w.member("principal", job.principal);
  write_time(w, "submitted", job.submitted);
  write_time(w, "started", record.started);
  write_time(w, "ended", record.ended);
  if (waiting != nullptr) write_waiting(w.key("waiting_because"), *waiting);
  if (job.body) write_body(w, *job.body, sight);
  w.end_object();
}

}  // namespace hostler::api
