#include "core/daemon/hosts/deploy.h"

#include <chrono>

namespace hostler::daemon {
namespace {

using namespace std::chrono_literals;

/// Sets d to the agent's folder: the driver's word, else by who we are.
constexpr const char* kFolder =
    "d=${HOSTLER_AGENT_DIR:-}; [ -n \"$d\" ] || { if [ \"$(id -u)\" = 0 ]; then "
    "d=/var/lib/hostler-agent; else d=$HOME/.hostler-agent; fi; }; ";

/// One sh, whatever the login shell is; what the driver set for the session survives sudo.
std::string in_shell(const std::string& prefix, const std::string& script) {
  const std::string keep =
      prefix.empty() ? ""
                     : prefix +
                           "env ${HOSTLER_AGENT_DIR:+HOSTLER_AGENT_DIR=$HOSTLER_AGENT_DIR} "
                           "${HOSTLER_BOOT_ID:+HOSTLER_BOOT_ID=$HOSTLER_BOOT_ID} ";
  return keep + "sh -c '" + script + "'";
}

}  // namespace

boost::asio::awaitable<Result<std::string>> deploy_agent(ssh::Session& session, std::string prefix,
                                                         std::string sha256,
                                                         const std::string& program) {
  const std::string name = "hostler-agent-" + sha256.substr(0, 16);
  ssh::ExecRequest look;
  look.command = in_shell(prefix, std::string(kFolder) + "[ -x \"$d/" + name + "\" ]");
  const auto there = co_await session.exec(std::move(look));
  if (!there) co_return tl::unexpected(there.error());
  if (!there->ok()) {
    ssh::ExecRequest put;
    put.limit = 120s;
    put.input = program;
    put.command = in_shell(
        prefix, std::string(kFolder) +
                    "umask 022; mkdir -p \"$d\" && chmod 711 \"$d\" && cd \"$d\" && cat > " + name +
                    ".$$ && echo \"" + sha256 + "  " + name +
                    ".$$\" | sha256sum -c - > /dev/null && chmod 755 " + name + ".$$ && mv " +
                    name + ".$$ " + name);
    const auto done = co_await session.exec(std::move(put));
    if (!done)
      co_return tl::unexpected(Error(done.error()).with_context("put the agent on the host"));
    if (!done->ok())
      co_return fail(Errc::kUnavailable, "put the agent on the host: " + done->describe() +
                                             " (is its disk full, or mounted without execution?)");
  }
  co_return in_shell(prefix,
                     std::string(kFolder) + "exec \"$d/" + name + "\" connect --dir \"$d\"");
}

}  // namespace hostler::daemon
