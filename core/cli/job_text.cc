#include "core/cli/job_text.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/json/writer.h"
#include "core/model/vcpus.h"

namespace hostler::cli {
namespace {

constexpr std::size_t kScriptMax = std::size_t{4} << 20;
constexpr std::size_t kStdinMax = std::size_t{1} << 20;

/// Refuses a value that is not UTF-8: JSON cannot carry other bytes unchanged.
Result<std::string> text(const std::string& option, std::string value) {
  if (is_utf8(value)) return value;
  return fail(Errc::kInvalidArgument, option +
                                          ": the value must be UTF-8 text; send other bytes in a "
                                          "file with --input, and let the job read that file");
}

Result<std::string> text_of_file(const std::string& option, const std::string& file,
                                 std::size_t max) {
  auto all = read_argument(file, max);
  if (!all) return tl::unexpected(std::move(all.error()).with_context(option));
  return text(option + " " + file, std::move(*all));
}

void write_needs(json::Writer& w, const SubmitOptions& o) {
  w.key("needs").begin_object();
  if (!o.vcpus.empty())
    w.key("vcpus").thousandths(model::parse_vcpus(o.vcpus).value_or(1).thousandths());
  if (!o.ram.empty()) w.member("ram", o.ram);
  if (!o.scratch.empty()) w.member("scratch", o.scratch);
  if (o.gpus > 0) w.member("gpus", o.gpus);
  w.end_object();
}

Result<void> write_env(json::Writer& w, const SubmitOptions& o) {
  if (o.env.empty()) return {};
  w.key("env").begin_object();
  for (const auto& pair : o.env) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return fail(Errc::kInvalidArgument, "--env " + pair + ": NAME=VALUE is needed");
    const auto value =
        HOSTLER_TRY(text("--env " + pair.substr(0, equals), pair.substr(equals + 1)));
    w.member(HOSTLER_TRY(text("--env", pair.substr(0, equals))), value);
  }
  w.end_object();
  return {};
}

Result<void> write_files(json::Writer& w, const SubmitOptions& o) {
  if (!o.inputs.empty()) {
    w.key("inputs").begin_array();
    for (const auto& input : o.inputs) {
      const std::size_t equals = input.find('=');
      const std::string from = equals == std::string::npos ? input : input.substr(equals + 1);
      w.begin_object()
          .member("path", HOSTLER_TRY(text("--input", input.substr(0, equals))))
          .member("from", HOSTLER_TRY(text("--input", from)))
          .end_object();
    }
    w.end_array();
  }
  if (!o.outputs.empty()) {
    w.key("outputs").begin_array();
    for (const auto& pattern : o.outputs) w.value(HOSTLER_TRY(text("--output", pattern)));
    w.end_array();
  }
  return {};
}

void write_constraints(json::Writer& w, const SubmitOptions& o) {
  if (o.type.empty() && o.market.empty() && o.zone.empty()) return;
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

}  // namespace

Result<std::string> read_argument(const std::string& name, std::size_t max) {
  UniqueFd opened;
  int fd = STDIN_FILENO;
  if (name != "-") {
    opened = UniqueFd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) return tl::unexpected(errno_error("open " + name, Errc::kInvalidArgument));
    fd = opened.get();
  }
  const std::string what = name == "-" ? "standard input" : name;
  std::string all, piece(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0) return tl::unexpected(errno_error("read " + what, Errc::kInvalidArgument));
    if (got == 0) return all;
    all.append(piece, 0, static_cast<std::size_t>(got));
    if (all.size() > max)
      return fail(Errc::kTooLarge, what + " is larger than " + std::to_string(max) + " bytes");
  }
}

Result<std::string> job_text(const SubmitOptions& o) {
  std::string out;
  json::Writer w(out);
  w.begin_object();
  if (!o.command.empty()) {
    w.key("command").begin_array();
    for (const auto& word : o.command) w.value(HOSTLER_TRY(text("the command", word)));
    w.end_array();
  }
  if (!o.script.empty())
    w.member("script", HOSTLER_TRY(text_of_file("--script", o.script, kScriptMax)));
  if (!o.name.empty()) w.member("name", HOSTLER_TRY(text("--name", o.name)));
  write_needs(w, o);
  if (o.priority != 0) w.member("priority", o.priority);
  if (!o.time_limit.empty()) w.member("time_limit", o.time_limit);
  HOSTLER_TRY(write_env(w, o));
  if (!o.stdin_file.empty())
    w.member("stdin", HOSTLER_TRY(text_of_file("--stdin", o.stdin_file, kStdinMax)));
  HOSTLER_TRY(write_files(w, o));
  write_constraints(w, o);
  if (o.restartable) w.member("restartable", true);
  if (o.attempts_max > 0) w.member("attempts_max", o.attempts_max);
  if (o.start_failures_max > 0) w.member("start_failures_max", o.start_failures_max);
  if (!o.interruption_command.empty())
    w.member("interruption_command",
             HOSTLER_TRY(text("--interruption-command", o.interruption_command)));
  if (!o.client_key.empty())
    w.member("client_key", HOSTLER_TRY(text("--client-key", o.client_key)));
  w.end_object();
  return out;
}

}  // namespace hostler::cli
