# shellcheck shell=sh disable=SC2034,SC2154  # the functions share variables
@FUNCTIONS@
problems=
problem() { problems=$problems${problems:+; }$1; }
# A process is of the account also if it has an id of its user namespaces (containers).
is_its() {
  [ "$1" != "$uid" ] || return 0
  for range in $sub_uids; do
    [ "$1" -lt "${range%:*}" ] || [ $(($1 - ${range%:*})) -ge "${range#*:}" ] || return 0
  done
  return 1
}
# It has ended, and nobody has waited for it. If only its first thread has ended, it goes on.
is_over() { [ "$1" = Z ] && [ $# -eq 2 ]; }
find_processes() {
  pids=
  for process in /proc/[0-9]*; do
    state=
    { while read -r name value _; do
      case $name in
        State:) state=$value ;;
        Uid:)
          ! is_its "$value" || is_over "$state" "$process"/task/* || pids="$pids ${process#/proc/}"
          break ;;
      esac
    done < "$process/status"; } 2>/dev/null || :
  done
}
# A process of the account ends all others at once, also those that fork. Others of them may stop
# it, so nothing waits for it while there are others, and root ends them one by one as well.
end_processes() {
  n=0
  find_processes
  while [ -n "$pids" ] && [ $n -lt 50 ]; do
    run_as "$user" 'kill -9 -1' >/dev/null 2>&1 &
    # shellcheck disable=SC2086  # they are words
    kill -9 $pids 2>/dev/null || :
    sleep 0.1 2>/dev/null || sleep 1
    n=$((n + 1))
    find_processes
  done
  [ -n "$pids" ] || wait
}
# Crontab, jobs of at, mail, and the permission to have processes without a login.
remove_tasks() {
  rm -f "/var/lib/systemd/linger/$user" "/var/spool/cron/crontabs/$user" "/var/spool/cron/$user"
  find /var/spool /var/mail -xdev -user "$uid" ! -type d -delete 2>/dev/null || :
}
# Shared memory, semaphores and message queues of both kinds outlive their processes.
remove_ipc() {
  find /dev/shm /dev/mqueue -maxdepth 1 -user "$uid" ! -type d -delete 2>/dev/null || :
  for kind in m:shm q:msg s:sem; do
    { while read -r _ id _ _ _ _ of_sem _ _ creator _; do
      [ "$kind" != s:sem ] || creator=$of_sem
      case $creator in
        '' | *[!0-9]*) ;;
        *) ! is_its "$creator" || ipcrm "-${kind%:*}" "$id" ;;
      esac
    done < "/proc/sysvipc/${kind#*:}"; } 2>/dev/null || :
  done
}
# Without its home at its path no key opens the account. Root alone enters the folder: whoever comes
# meanwhile cannot lead elsewhere what removes it.
hide_home() {
  mkdir "$gone" 2>/dev/null || :
  # A file system of the holder's that is mounted there may answer never.
  timeout 5 mv "$home" "$gone" 2>/dev/null || :
}
# The holder has mounted something there, e.g. by sshfs, and its processes have ended.
unmount_home() {
  [ -z "$pids" ] || return 0
  while read -r _ place _; do
    case $place in
      "$home" | "$home"/* | "$gone"/*)
        # The last byte may be a newline, which $( ) drops: then it is another name.
        place=$(printf %b. "$(printf %s "$place" | sed 's/\\/&0/g')")
        umount -l "${place%.}" 2>/dev/null || : ;;
    esac
  done < /proc/mounts
}
remove_account() {
  if command -v userdel >/dev/null 2>&1; then said=$(userdel "$user" 2>&1)
  else said=$(deluser "$user" 2>&1)
  fi
  ! id -u "$user" >/dev/null 2>&1 || problem "the account is left: $said"
}
# Counts files in the folders that everybody may write to.
count_files() {
  files=$(timeout 10 find /tmp /var/tmp /dev/shm /run -xdev -user "$uid" 2>/dev/null |
    head -n 1000 | wc -l)
}
# Tasks may start processes until they are removed, and processes may make tasks until they have
# ended. Somebody whose key was accepted before may come until the account is removed.
close_user() {
  [ "$uid" -ge 1000 ] || failed "the account $user has the uid $uid: nothing was ended"
  gone=/home/.$user.gone.$$
  sub_uids=$(sed -n -e "s/^$user://p" -e "s/^$uid://p" /etc/subuid 2>/dev/null)
  hide_home
  end_processes
  remove_tasks
  end_processes
  unmount_home
  hide_home
  remove_ipc
  rm -rf "$home" "/home/.$user.gone."* "/home/.$user.new" 2>/dev/null || problem "its home is left"
  count_files
  remove_account
  end_processes
  # shellcheck disable=SC2086  # they are words
  set -- $pids
  [ $# -eq 0 ] || problem "$# of its processes cannot be ended"
}
close_root() {
  { other_root_keys > "$root_keys.$user" && mv -f "$root_keys.$user" "$root_keys"; } 2>/dev/null ||
    problem "its keys are left in $root_keys"
}
# One function, called on the last line: a script that was cut off does not call it.
hostler_close() {
set -u
files=0
lock
if has_account; then
  is_ours || failed "there is an account $user that is not of this lease: it is left"
  close_user
fi
! grep -q " $user\$" "$root_keys" 2>/dev/null || close_root
[ -z "$problems" ] || failed "$problems"
rm -f "$accounts/$user.notice" "$accounts/$user"
printf 'files that are left elsewhere: %d\n' "$files"
}
hostler_close
