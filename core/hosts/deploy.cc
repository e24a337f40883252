#include "core/hosts/deploy.h"

#include <chrono>

#include "core/hosts/exec.h"

namespace hostler::hosts {
namespace {

using namespace std::chrono_literals;

/// A script that sets d to the agent's folder: the driver's choice, or else the configured folder,
/// or else one that the login may write to.
std::string choose_folder(const std::string& configured) {
  return "d=${HOSTLER_AGENT_DIR:-" + configured +
         "}; [ -n \"$d\" ] || { if [ \"$(id -u)\" = 0 ]; then d=/var/lib/hostler-agent; else "
         "d=$HOME/.hostler-agent; fi; }; ";
}

/// Runs the script by sh, whatever the login shell is.
std::string in_shell(const std::string& prefix, const std::string& script) {
  return with_rights(prefix) + "sh -c '" + script + "'";
}

}  // namespace

boost::asio::awaitable<Result<std::string>> deploy_agent(ssh::Session& session, std::string prefix,
                                                         const HostSettings& settings) {
  const std::string& sha256 = settings.agent_sha256;
  const std::string name = "hostler-agent-" + sha256.substr(0, 16);
  const std::string folder = choose_folder(settings.agent_folder);
  ssh::ExecRequest check;
  check.command =
      in_shell(prefix, folder + "[ -x \"$d/" + name + "\" ] && [ -s \"$d/" + name + "\" ]");
  const auto there = co_await session.exec(std::move(check));
  if (!there) co_return tl::unexpected(there.error());
  if (!there->ok()) {
    ssh::ExecRequest put;
    put.limit = 120s;
    put.input = settings.agent_program;
    put.command = in_shell(
        prefix, folder + "umask 022; mkdir -p \"$d\" && chmod 711 \"$d\" && cd \"$d\" && cat > " +
                    name + ".$$ && echo \"" + sha256 + "  " + name +
                    ".$$\" | sha256sum -c - > /dev/null && chmod 755 " + name + ".$$ && { sync " +
                    name + ".$$ 2>/dev/null || sync; } && mv " + name + ".$$ " + name);
    const auto done = co_await session.exec(std::move(put));
    if (!done)
      co_return tl::unexpected(Error(done.error()).with_context("put the agent on the host"));
    if (!done->ok())
      co_return fail(Errc::kUnavailable, "put the agent on the host: " + done->describe() +
                                             " (is its disk full, or mounted without execution?)");
  }
  co_return in_shell(prefix, folder + "exec \"$d/" + name + "\" connect --dir \"$d\"");
}

}  // namespace hostler::hosts
