#include "core/cli/ssh_command.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace hostler::cli {
namespace {

/// A path that ssh and the shell of ProxyCommand take as it is.
bool needs_no_quoting(const std::string& path) {
  constexpr std::string_view kHarmless =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-";
  return path.starts_with('/') && path.find_first_not_of(kHarmless) == std::string::npos;
}

Result<void> check_host(const std::string& host) {
  if (is_host(host)) return {};
  return fail(Errc::kMisbehaving,
              "the daemon names '" + printable(host, 80) + "', which is not the address of a host");
}

/// Only keys of the file, which is not changed, and only on a connection of its own: over an open
/// one of the user's, ssh asks for no key, and one stays open after the lease. They count before
/// the user's. OpenSSH before 8.5 does not know KnownHostsCommand; the user's own IgnoreUnknown
/// does not count any more, so all that is unknown is ignored.
std::vector<std::string> key_options(const std::string& known_hosts) {
  std::vector<std::string> out;
  for (const auto& option :
       {std::string("IgnoreUnknown=*"), "UserKnownHostsFile=" + known_hosts,
        std::string("GlobalKnownHostsFile=/dev/null"), std::string("KnownHostsCommand=none"),
        std::string("StrictHostKeyChecking=yes"), std::string("VerifyHostKeyDNS=no"),
        std::string("NoHostAuthenticationForLocalhost=no"), std::string("UpdateHostKeys=no"),
        std::string("CanonicalizeHostname=no"), std::string("ControlMaster=no"),
        std::string("ControlPath=none")})
    out.insert(out.end(), {"-o", option});
  return out;
}

/// -J would look for the jump host's key in the user's own files. A shell reads the words.
std::string proxy_command(const SshTarget& target, const std::string& known_hosts) {
  std::string out = "ssh";
  for (const std::string& word : key_options(known_hosts)) out += " '" + word + "'";
  out += " -p " + std::to_string(target.jump_port) + " -W [%h]:%p ";
  for (const char c : target.jump_host) out += c == '%' ? std::string("%%") : std::string(1, c);
  return out;
}

}  // namespace

Result<std::vector<std::string>> ssh_command(const SshTarget& target,
                                             const std::string& known_hosts,
                                             const std::vector<std::string>& command) {
  HOSTLER_ASSERT(needs_no_quoting(known_hosts), "the file is one that this program has named");
  HOSTLER_TRY(check_host(target.host));
  if (!is_name(target.user) || target.user.starts_with('-'))
    return fail(Errc::kMisbehaving,
                "the daemon names '" + printable(target.user, 80) + "', which is not a user");
  std::vector<std::string> out{"ssh"};
  std::ranges::copy(key_options(known_hosts), std::back_inserter(out));
  // Whoever is root on the host could use the user's agent and display, also where the
  // configuration forwards them to all hosts. To the jump host -W forwards nothing but this
  // connection.
  out.insert(out.end(),
             {"-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes"});
  if (!target.jump_host.empty()) {
    HOSTLER_TRY(check_host(target.jump_host));
    out.insert(out.end(), {"-o", "ProxyCommand=" + proxy_command(target, known_hosts)});
  }
  for (const auto& file : target.identities) out.insert(out.end(), {"-i", file});
  out.insert(out.end(), {"-p", std::to_string(target.port), "-l", target.user, target.host});
  out.insert(out.end(), command.begin(), command.end());
  return out;
}

}  // namespace hostler::cli
