#include "core/cli/job_text.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/cli/work_text.h"
#include "core/json/writer.h"

namespace hostler::cli {
namespace {

constexpr std::size_t kScriptMax = std::size_t{4} << 20;
constexpr std::size_t kStdinMax = std::size_t{1} << 20;

Result<std::string> text_of_file(const std::string& option, const std::string& file,
                                 std::size_t max) {
  auto all = read_argument(file, max);
  if (!all) return tl::unexpected(std::move(all.error()).with_context(option));
  return argument_text(option + " " + file, std::move(*all));
}

Result<void> write_env(json::Writer& w, const SubmitOptions& o) {
  if (o.env.empty()) return {};
  w.key("env").begin_object();
  for (const auto& pair : o.env) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return fail(Errc::kInvalidArgument, "--env " + pair + ": NAME=VALUE is needed");
    const auto value =
        HOSTLER_TRY(argument_text("--env " + pair.substr(0, equals), pair.substr(equals + 1)));
    w.member(HOSTLER_TRY(argument_text("--env", pair.substr(0, equals))), value);
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
          .member("path", HOSTLER_TRY(argument_text("--input", input.substr(0, equals))))
          .member("from", HOSTLER_TRY(argument_text("--input", from)))
          .end_object();
    }
    w.end_array();
  }
  if (!o.outputs.empty()) {
    w.key("outputs").begin_array();
    for (const auto& pattern : o.outputs) w.value(HOSTLER_TRY(argument_text("--output", pattern)));
    w.end_array();
  }
  return {};
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
    for (const auto& word : o.command) w.value(HOSTLER_TRY(argument_text("the command", word)));
    w.end_array();
  }
  if (!o.script.empty())
    w.member("script", HOSTLER_TRY(text_of_file("--script", o.script, kScriptMax)));
  HOSTLER_TRY(write_work(w, o));
  if (!o.time_limit.empty()) w.member("time_limit", o.time_limit);
  HOSTLER_TRY(write_env(w, o));
  if (!o.stdin_file.empty())
    w.member("stdin", HOSTLER_TRY(text_of_file("--stdin", o.stdin_file, kStdinMax)));
  HOSTLER_TRY(write_files(w, o));
  if (o.restartable) w.member("restartable", true);
  if (o.attempts_max > 0) w.member("attempts_max", o.attempts_max);
  if (o.start_failures_max > 0) w.member("start_failures_max", o.start_failures_max);
  if (!o.interruption_command.empty())
    w.member("interruption_command",
             HOSTLER_TRY(argument_text("--interruption-command", o.interruption_command)));
  w.end_object();
  return out;
}

}  // namespace hostler::cli
