#include "core/hosts/exec.h"

#include <utility>

#include "core/base/text.h"

namespace hostler::hosts {
namespace {

/// A host that prints for ever is cut off.
constexpr std::size_t kReceivedMax = std::size_t{16} << 20;

}  // namespace

std::string with_rights(const std::string& prefix) {
  if (prefix.empty()) return {};
  return prefix +
         "env ${HOSTLER_AGENT_DIR:+HOSTLER_AGENT_DIR=$HOSTLER_AGENT_DIR} "
         "${HOSTLER_BOOT_ID:+HOSTLER_BOOT_ID=$HOSTLER_BOOT_ID} ";
}

model::CommandEnded not_started(const model::RunCommand& run, std::string why) {
  model::CommandEnded out;
  out.number = run.number;
  out.error = std::move(why);
  return out;
}

boost::asio::awaitable<model::CommandEnded> run_command(ssh::Session& session, std::string prefix,
                                                        model::RunCommand run) {
  model::HostExec& command = run.command;
  ssh::ExecRequest request;
  if (command.as_root) request.command = with_rights(prefix);
  for (std::size_t i = 0; i < command.arguments.size(); ++i)
    request.command += (i == 0 ? "" : " ") + shell_word(command.arguments[i]);
  request.input = std::move(command.input);
  request.output_max = command.output_max;
  request.received_max = kReceivedMax;
  request.limit = command.limit;
  const auto ended = co_await session.exec(std::move(request));
  model::CommandEnded out;
  out.number = run.number;
  if (ended) {
    out.status = ended->status;
    out.signal = ended->signal;
    out.output = ended->output;
    out.errors = ended->errors;
    out.truncated = ended->truncated;
  } else {
    out.error = ended.error().message;
    out.outcome_unknown = ended.error().code == Errc::kOutcomeUnknown;
  }
  co_return out;
}

}  // namespace hostler::hosts
