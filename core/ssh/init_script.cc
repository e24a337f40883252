#include "core/ssh/init_script.h"

#include "core/ssh/scripts.h"

namespace hostler::ssh {
namespace {

/// Needs no quoting: the text is PEM or base64, without a line HOSTLER_END.
std::string here_document(const std::string& target, std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  return "cat > " + target + " <<'HOSTLER_END'\n" + text + "HOSTLER_END\n";
}

}  // namespace

std::string make_init_script(const InitScript& script) {
  // One function, called on the last line: a script that was cut off does not call it.
  std::string out = "#!/bin/sh\nhostler_init() {\n(\nset -eu\numask 077\n";
  out += "file=" HOSTLER_SECRET_FILE "\n";
  out += "mkdir -p \"${file%/*}\"\nchmod 711 \"${file%/*}\"\n";
  out += here_document("\"$file.new\"", script.secret);
  out += "mv -f \"$file.new\" \"$file\"\n";
  if (!script.host_private_key.empty()) {
    out += "key=${HOSTLER_HOST_KEY:-/etc/ssh/ssh_host_ed25519_key}\n";
    out += here_document("\"$key.new.pub\"", script.host_public_key);
    out += here_document("\"$key.new\"", script.host_private_key);
    out += "chmod 644 \"$key.new.pub\"\nmv -f \"$key.new.pub\" \"$key.pub\"\n";
    out += "mv -f \"$key.new\" \"$key\"\n";
    out += "systemctl reload ssh 2>/dev/null || systemctl reload sshd 2>/dev/null || :\n";
  }
  out += ")\n}\nhostler_init\n[ $? -eq 0 ] || exit 1\n";  // after || the shell would ignore set -e
  return out + script.command + (script.command.empty() ? "" : "\n");
}

}  // namespace hostler::ssh
