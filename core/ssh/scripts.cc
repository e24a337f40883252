#include "core/ssh/scripts.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace hostler::ssh::scripts {

// HMAC-SHA256 with only sha256sum and printf. Variables hold the secret and the digests in
// hexadecimal, and only pipes carry bytes, since a shell variable cannot hold NUL. The octal digits
// are computed: a command substitution would start a process for each of 192 bytes.
const std::string_view kChallenge = R"sh(set -eu
LC_ALL=C; export LC_ALL
nonce=$1 instance=$2
cannot() { printf '\nhostler-cannot %s %s\n' "$nonce" "$1"; exit 0; }

secret=
file=)sh" HOSTLER_SECRET_FILE R"sh(
if [ -r "$file" ]; then
  read -r secret < "$file" || :
elif command -v sudo >/dev/null 2>&1; then
  secret=$(sudo -n sh -c 'read -r s < "$1" && printf %s "$s"' sh "$file" 2>/dev/null) || :
fi
case $secret in
  '' | *[!0-9a-f]*) cannot "there is no secret in $file: has the init script run yet?" ;;
esac
[ ${#secret} -eq 64 ] || cannot "the secret in $file is damaged"

key=
for file in ${HOSTLER_HOST_KEY:+"$HOSTLER_HOST_KEY"} \
    /etc/ssh/ssh_host_ed25519_key /etc/ssh/ssh_host_ecdsa_key; do
  [ -r "$file.pub" ] || continue
  read -r type blob rest < "$file.pub" || :
  key="$type $blob"
  break
done
[ -n "$key" ] || cannot 'it has no public host key that can be read'
command -v sha256sum >/dev/null 2>&1 || cannot 'it has no sha256sum'

escape() {
  left=$1 out=
  while [ -n "$left" ]; do
    tail=${left#??}
    byte=${left%"$tail"}
    value=$((0x$byte ^ $2))
    out="$out\\0$((value / 64))$((value / 8 % 8))$((value % 8))"
    left=$tail
  done
}
padded=$secret
while [ ${#padded} -lt 128 ]; do padded=${padded}0000000000000000; done
escape "$padded" 54; inner_pad=$out
escape "$padded" 92; outer_pad=$out
message="hostler-challenge-1 $nonce $instance $key"
inner=$({ printf %b "$inner_pad"; printf %s "$message"; } | sha256sum)
escape "${inner%% *}" 0
proof=$(printf %b "$outer_pad$out" | sha256sum)
printf '\nhostler-proof %s %s\n' "$nonce" "${proof%% *}"
)sh";

// The status is for everyone to read, the output is for root. The init command's shell is gone if
// its process is, or is another one by its start time, or is of another boot. A status of another
// instance came with the image. One without an instance is of an older hostler.
const std::string_view kInitState = R"sh(set -u
LC_ALL=C; export LC_ALL
nonce=$1 of=${2:-} state= dead=
file=)sh" HOSTLER_SECRET_FILE R"sh(
init=)sh" HOSTLER_INIT_FILES R"sh(
look() {
  state=
  [ ! -r "$init.status" ] || read -r state < "$init.status" || :
  case $state in
    *\ h-*)
      [ -z "$of" ] || [ "${state##* }" = "$of" ] || { state=foreign; return; }
      state=${state% *} ;;
  esac
}
look
case $state in
  '' | foreign)
    word=none
    [ -e "$file" ] && [ -z "$state" ] || word=not_run
    printf '\nhostler-init %s %s\n' "$nonce" "$word"
    exit 0 ;;
  running\ *)
    set -- $state
    boot=${HOSTLER_BOOT_ID:-}
    [ -n "$boot" ] || read -r boot < /proc/sys/kernel/random/boot_id || boot=${4:-}
    if [ "${4:-}" != "$boot" ]; then dead=restarted
    elif [ -r /proc/1/stat ]; then  # with hidepid, this user does not see processes of root
      pid=${2:-0} start=${3:-0} stat=
      { read -r stat < "/proc/$pid/stat"; } 2>/dev/null || :
      set -- ${stat##*)}
      [ "${20:-gone}" = "$start" ] || dead=killed
    fi
    [ -z "$dead" ] || look  # it may have ended meanwhile
    case $state in running\ *) state=${dead:+ended $dead}; state=${state:-running} ;; esac ;;
esac
set -- "$init.output"
[ ! -e "$1.old" ] || set -- "$1.old" "$1"
output=$({ cat "$@" || sudo -n cat "$@"; } 2>/dev/null | tail -c 4096 |
  od -An -v -tx1 | tr -d ' \n')
printf '\nhostler-init %s %s %s\n' "$nonce" "$state" "$output"
)sh";

// Nothing is written before the machine has shown that the create of this instance has set it up:
// it has the secret of this create, or the host key that this create has delivered.
const std::string_view kPrepareRotation = R"sh(set -eu
umask 077
nonce=$1 mark=$2 delivered="$3 $4"
none() { printf '\nhostler-rotation-none %s %s\n' "$nonce" "$1"; exit 0; }
unmarked() { printf '\nhostler-rotation-unmarked %s %s\n' "$nonce" "$1"; exit 0; }

key=${HOSTLER_HOST_KEY:-/etc/ssh/ssh_host_ed25519_key}
secret_file=)sh" HOSTLER_SECRET_FILE R"sh(
type= blob= secret=
[ ! -r "$key.pub" ] || read -r type blob rest < "$key.pub" || :
if [ "$type $blob" != "$delivered" ]; then
  [ -r "$secret_file" ] || unmarked "there is no secret in $secret_file"
  read -r secret < "$secret_file" || :
  found=$(printf %s "hostler-marker-1 $nonce $secret" | sha256sum)
  [ "${found%% *}" = "$mark" ] || unmarked "the secret in $secret_file is not of this instance"
fi
[ -f "$key" ] || none "there is no host key $key"
[ -w "$key" ] && [ -w "${key%/*}" ] || none "the host key $key may not be replaced"
command -v ssh-keygen >/dev/null 2>&1 || none 'there is no ssh-keygen'
rm -f "$key.next" "$key.next.pub"
ssh-keygen -q -t ed25519 -N '' -C '' -f "$key.next"
mkdir -p "${secret_file%/*}"
secret=$(od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n')
printf '%s\n' "$secret" > "$secret_file.next"
sync "$key.next" "$key.next.pub" "$secret_file.next" 2>/dev/null || sync
read -r type blob rest < "$key.next.pub" || :
printf '\nhostler-rotation %s %s %s %s\n' "$nonce" "$secret" "$type" "$blob"
)sh";

const std::string_view kActivateRotation = R"sh(set -eu
umask 077
nonce=$1 wanted="$2 $3"
failed() { printf '\nhostler-activated %s failed %s\n' "$nonce" "$1"; exit 0; }

key=${HOSTLER_HOST_KEY:-/etc/ssh/ssh_host_ed25519_key}
secret_file=)sh" HOSTLER_SECRET_FILE R"sh(
public_of() { ssh-keygen -y -f "$1" 2>/dev/null | { read -r t b rest && printf '%s %s' "$t" "$b"; }; }

if [ "$(public_of "$key")" != "$wanted" ]; then
  [ "$(public_of "$key.next")" = "$wanted" ] || failed "$key.next is not the key that was agreed"
  # The public key first. Both paths exist at any moment.
  mv -f "$key.next.pub" "$key.pub"
  mv -f "$key.next" "$key"
fi
[ ! -f "$secret_file.next" ] || mv -f "$secret_file.next" "$secret_file"
sync "$key" "$key.pub" "$secret_file" 2>/dev/null || sync

# The listener is the topmost sshd among the parents of this session.
pid=$$ listener=
while [ "$pid" -gt 0 ]; do
  read -r line < "/proc/$pid/stat" || break
  name=${line#*(} name=${name%)*}
  case $name in
    sshd | sshd-session) listener=$pid ;;
    *) [ -z "$listener" ] || break ;;
  esac
  set -- ${line##*)}
  pid=$2
done
[ -n "$listener" ] || failed 'no sshd is among the parents of this session'
# A listener that is reloading, e.g. for an earlier activation, has this title again in a moment.
for look in 1 2 3 4 5 6 7 8 9 10; do
  title=$(tr '\0' ' ' < "/proc/$listener/cmdline")
  case $title in *' [listener]'*) break ;; esac
  sleep 0.1 2>/dev/null || sleep 1
done
case $title in
  *' [listener]'*) ;;
  *) failed "the sshd of this session does not listen: $title" ;;
esac
# With a bad configuration a reload would end the listener.
sshd=${title#sshd: } sshd=${sshd%% \[listener\]*}
$sshd -t >/dev/null 2>&1 || failed "its own check of the configuration fails: $sshd -t"
if [ -d /run/systemd/system ] && systemctl reload ssh 2>/dev/null; then :
else kill -HUP "$listener" || failed "HUP to sshd $listener"
fi
printf '\nhostler-activated %s done\n' "$nonce"
)sh";

namespace {
/// The command line for any login shell. sudo would remove the variables.
std::string with_rights(std::string_view prefix, std::string_view command) {
  if (prefix.empty()) return std::string(command);
  return "sh -c 'exec " + std::string(prefix) +
         "env ${HOSTLER_AGENT_DIR:+\"HOSTLER_AGENT_DIR=$HOSTLER_AGENT_DIR\"} "
         "${HOSTLER_HOST_KEY:+\"HOSTLER_HOST_KEY=$HOSTLER_HOST_KEY\"} " +
         std::string(command) + "'";
}
}  // namespace

std::string command(std::string_view prefix, std::initializer_list<std::string_view> arguments) {
  constexpr std::string_view kHarmless = "_./+=:-";
  std::string out = "sh -s --";
  for (const std::string_view argument : arguments) {
    const bool harmless = !argument.empty() && std::ranges::all_of(argument, [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             kHarmless.find(c) != std::string_view::npos;
    });
    HOSTLER_ASSERT(harmless, "an argument of a script needs no quoting");
    out.append(" ").append(argument);
  }
  return with_rights(prefix, out);
}

std::string_view answer(std::string_view output, std::string_view word, std::string_view nonce) {
  const std::string begin = std::string(word) + " " + std::string(nonce) + " ";
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = output.find('\n', at);
    if (end == std::string_view::npos) break;  // not a whole line
    std::string_view line = output.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(begin)) return line.substr(begin.size());
    at = end + 1;
  }
  return {};
}

}  // namespace hostler::ssh::scripts
