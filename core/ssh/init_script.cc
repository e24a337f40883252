#include "core/ssh/init_script.h"

#include "core/ssh/scripts.h"

namespace hostler::ssh {
namespace {

/// Bytes as they are. `end` is no line of the text.
std::string here_document(const std::string& target, std::string text,
                          const std::string& end = "HOSTLER_END") {
  if (!text.ends_with('\n')) text += '\n';
  return "cat > " + target + " <<'" + end + "'\n" + text + end + "\n";
}

/// A last line that the text does not have.
std::string end_of(const std::string& text) {
  std::string end = "HOSTLER_END";
  while (text.find(end) != std::string::npos) end += '_';
  return end;
}

// The state is replaced whole. It names the shell of this script by pid, start time and boot: so a
// reader can tell that the shell was killed. Its last word is the instance: an image that was made
// of a used host has the state of that host.
constexpr std::string_view kState = R"sh(hostler_state() {
  (umask 022 && printf '%s\n' "$2 $hostler_of" > "$1.status.new") && mv -f "$1.status.new" "$1.status"
}
)sh";
constexpr std::string_view kAwait = R"sh(rm -rf "$init.claim"
rm -f "$init.output" "$init.output.old" "$init.kept" "$init.command" "$init.start"
hostler_state "$init" awaits
)sh";
constexpr std::string_view kBegin = R"sh(stat= boot=${HOSTLER_BOOT_ID:-}
[ -n "$boot" ] || read -r boot < /proc/sys/kernel/random/boot_id || :
{ read -r stat < /proc/$$/stat; } 2>/dev/null || :
set -- ${stat##*)}
rm -f "$init.output" "$init.output.old" "$init.kept"
hostler_state "$init" "running $$ ${20:-0} $boot"
)sh";

// hostler_keep copies the output to where it went before, and keeps its end, the last 64 writes or
// more, 8 MiB at most, in two files. A process that the command leaves behind may hold the output
// open: so nothing waits for hostler_keep, but after a failure, for 2 s, for the end of the output.
// The file descriptor 3 carries the status, and the substitution ends when the command has: only
// its shell has this descriptor.
constexpr std::string_view kRun = R"sh(hostler_more() {  # dd has read all 64 blocks
  while read -r line; do
    case $line in [0-9]*+[0-9]*) break ;; esac  # not a warning of dd
  done < "$1"
  case $line in [0-9]*+[0-9]*) ;; *) return 1 ;; esac
  part=${line#*+}
  [ $((${line%%+*} + ${part%% *})) -eq 64 ]
}
hostler_keep() {
  exec 3>&- >&4 4>&- 2>/dev/null
  umask 077
  while { LC_ALL=C dd bs=65536 count=64 2> "$1.dd" | tee "$1.output"; } && hostler_more "$1.dd"; do
    mv -f "$1.output" "$1.output.old"
  done
  cat > /dev/null  # if the disk was full
  : > "$1.kept"
  rm -f "$1.dd"
}
hostler_command() {
  file=)sh" HOSTLER_SECRET_FILE R"sh(
  init=)sh" HOSTLER_INIT_FILES R"sh(
  exec 4>&1
  status=$({ { sh "$init.command" < /dev/null 3>&- 4>&-; echo $? >&3; } 2>&1 |
    hostler_keep "$init" & } 3>&1)
  case $status in '' | *[!0-9]*) status=killed ;; esac
  n=0
  while [ "$status" != 0 ] && [ ! -e "$init.kept" ] && [ $n -lt 20 ]; do
    sleep 0.1 2>/dev/null || sleep 1
    n=$((n + 1))
  done
  hostler_state "$init" "ended $status"
  rm -f "$init.command"
  [ "$status" = 0 ]
}
)sh";

}  // namespace

std::string make_init_script(const InitScript& script) {
  const bool has_command = !script.command.empty();
  std::string out = "#!/bin/sh\n";
  if (has_command || script.command_comes_later)
    out.append("hostler_of=" + script.instance + "\n").append(kState);
  if (has_command) out.append(kRun);
  // One function, called on the last line: a script that was cut off does not call it.
  out += "hostler_init() {\n(\nset -eu\numask 077\n";
  out += "file=" HOSTLER_SECRET_FILE "\n";
  out += "mkdir -p \"${file%/*}\"\nchmod 711 \"${file%/*}\"\n";
  if (has_command) {
    // Before the secret: a host that is proved has the state.
    out += "init=" HOSTLER_INIT_FILES "\n";
    out += here_document("\"$init.command\"", script.command, end_of(script.command));
    out += kBegin;
  } else if (script.command_comes_later) {
    out.append("init=" HOSTLER_INIT_FILES "\n").append(kAwait);
  } else {
    out += "rm -f \"${file%/*}/init.status\"\n";  // of an image
  }
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
  return out + (has_command ? "hostler_command\n" : "");
}

std::string make_init_delivery(const std::string& command, const std::string& instance) {
  // The shell that runs the command: its state names it, so it is one of its own.
  std::string start = "umask 022\nhostler_of=$1\n";
  start.append(kState).append(kRun);
  start += "file=" HOSTLER_SECRET_FILE "\ninit=" HOSTLER_INIT_FILES "\n(\nset -eu\numask 077\n";
  // What has not begun may be delivered again.
  start.append(kBegin) += ") || { rmdir \"$init.claim\"; exit 1; }\nhostler_command\n";
  // One function, called on the last line: a script that was cut off does not call it.
  std::string out = "hostler_deliver() {\nset -eu\numask 077\n";
  out += "file=" HOSTLER_SECRET_FILE "\ninit=" HOSTLER_INIT_FILES "\n";
  out += "awaits() {\n  read -r state < \"$init.status\" || return 1\n";
  out += "  case $state in 'awaits '" + (instance.empty() ? "?*" : instance) +
         ") ;; *) return 1 ;; esac\n}\n";
  out += "awaits || return 0\n";
  out += here_document("\"$init.command.$$\"", command, end_of(command));
  out += here_document("\"$init.start.$$\"", start, end_of(start));
  // The folder is made once, whoever else delivers at the same time.
  out += "if ! mkdir \"$init.claim\" 2>/dev/null; then\n";
  out += "  rm -f \"$init.command.$$\" \"$init.start.$$\"\n  return 0\nfi\n";
  out += "mv -f \"$init.command.$$\" \"$init.command\"\n";
  out += "mv -f \"$init.start.$$\" \"$init.start\"\n";
  out += "in_session= ; ! command -v setsid >/dev/null 2>&1 || in_session=setsid\n";
  out += "$in_session sh \"$init.start\" \"${state#* }\" < /dev/null > /dev/null 2>&1 &\n";
  out += "n=0\nwhile awaits && [ $n -lt 50 ]; do\n";
  out += "  sleep 0.1 2>/dev/null || sleep 1\n  n=$((n + 1))\ndone\n";
  return out + "}\nhostler_deliver\n";
}

}  // namespace hostler::ssh
