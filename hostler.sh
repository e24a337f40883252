#!/bin/bash
# hostler.sh - build hostler and try it, on Debian 12 or 13.
#
#   ./hostler.sh demo            build what the demo runs (release) and run it
#   ./hostler.sh test            build everything (preset test) and run every test
#   ./hostler.sh test build      only build
#   ./hostler.sh test run ...    only run, with these arguments of ctest
#   ./hostler.sh packages WHAT   only install what is missing for WHAT: build, test or ci
#
# Debian packages that are missing (packaging/apt/*.txt) are installed if this runs as root; an
# ordinary user is told the command instead. No package's service is started or enabled.
# What was installed, and how to undo it, is kept in .hostler/installed.txt.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$(readlink -f "$0")")"
readonly policy=/usr/sbin/policy-rc.d
readonly policy_mark='# temporary, by hostler.sh'
readonly record=.hostler/installed.txt

say() { printf 'hostler.sh: %s\n' "$*"; }
die() { printf 'hostler.sh: %s\n' "$*" >&2; exit 1; }
usage() { sed -n '2,12s/^# \{0,1\}//p' "$0"; }

# Packages of packaging/apt/LIST.txt..., one a line; "a | b": one of them.
package_names() {
  local list
  for list; do sed '/^#/d; /^$/d' "packaging/apt/$list.txt"; done
}

installed_packages() {
  dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' | sed -n 's/^installed //p' | sort
}

# Of the lines on standard input those of which no package is installed.
missing_of() {
  local installed line name
  installed=$(installed_packages | cut -d ' ' -f 1)
  sort -u | while read -r line; do
    for name in ${line//|/ }; do
      grep -qxF -- "$name" <<<"$installed" && continue 2
    done
    echo "$line"
  done
}

# The first package of each line that apt knows here, else the first.
choose() {
  local line name
  for line; do
    for name in ${line//|/ }; do
      [ -z "$(apt-cache madison "$name" 2>/dev/null)" ] || break
      name=${line%% *}
    done
    echo "$name"
  done
}

forget_our_policy() {
  if [ -e $policy ] && grep -qF "$policy_mark" $policy; then rm -f $policy; fi
}

# Root may work in somebody else's tree: what appeared there is its owner's.
leave() {
  [ -z "$own_drivers" ] || rm -rf "$own_drivers"
  [ "$(id -u)" = 0 ] || return 0
  forget_our_policy
  [ -O . ] || chown -R -h --reference=. .hostler build 2>/dev/null || true
}

# Until this script ends no package starts a service. Somebody else's policy stays as it is, but
# then it has to say no as well: openssh-server would open port 22.
forbid_services() {
  forget_our_policy
  if [ -e $policy ]; then
    local answer=0
    $policy ssh start >/dev/null 2>&1 || answer=$?
    [ $answer = 101 ] || die "$policy exists and lets packages start services (openssh-server" \
      "would open port 22). Move it aside, or install the packages yourself: $*"
  else
    printf '#!/bin/sh\n%s\nexit 101\n' "$policy_mark" >$policy
    chmod 755 $policy
  fi
}

# The services of these packages must not start at the next boot either.
disable_services() {
  local file name links
  { dpkg -L "$@" 2>/dev/null || true; } | sort -u | while read -r file; do
    name=${file##*/}
    case $file in
      */lib/systemd/system/*.service | */lib/systemd/system/*.socket | */lib/systemd/system/*.timer)
        links=(/etc/systemd/system/*.wants/"$name")
        [ -L "${links[0]}" ] || continue
        if command -v systemctl >/dev/null; then systemctl --quiet disable "$name"
        else rm -f "${links[@]}"; fi
        echo "# disabled $name; it can be enabled with: systemctl enable $name"
        ;;
      /etc/init.d/*)
        update-rc.d "$name" disable
        echo "# disabled /etc/init.d/$name; it can be enabled with: update-rc.d $name enable"
        ;;
    esac
  done
}

# write_record BEFORE AFTER PACKAGE...: the first two are files, sorted lists of "package version"
write_record() {
  local before=$1 after=$2 added changed
  shift 2
  added=$(comm -13 <(cut -d ' ' -f 1 "$before") <(cut -d ' ' -f 1 "$after"))
  changed=$(join "$before" "$after" | awk '$2 != $3 { print "# upgraded " $1 " from " $2 " to " $3 }')
  {
    echo "# $(date -u +%FT%TZ): ./hostler.sh $command installed these. To undo, as root:"
    echo "#   apt-get purge \$(grep -v '^#' $PWD/$record)"
    disable_services "$@"
    [ -z "$changed" ] || echo "$changed"
    echo "$added"
  } >>$record
  say "installed $(wc -l <<<"$added") packages; list and how to undo it: $record"
}

install() {  # install WHAT; each set contains the one before
  local missing before after log=.hostler/apt.log failed=''
  case $1 in
    build) set -- build ;;
    test) set -- test build ;;
    ci) set -- ci test build ;;
    *) die "no package set '$1'; there are build, test and ci" ;;
  esac
  mapfile -t missing < <(package_names "$@" | missing_of)
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    mapfile -t missing < <(choose "${missing[@]}")
    die "these Debian packages are missing: ${missing[*]}
Run this as root, then the same again as you were:
  $PWD/hostler.sh packages $1"
  fi
  mkdir -p .hostler
  before=$(mktemp) after=$(mktemp)
  installed_packages >"$before"
  apt-get update -qq || say "apt-get update failed; trying with the package lists that are there"
  mapfile -t missing < <(choose "${missing[@]}")
  say "installing ${missing[*]}"
  forbid_services "${missing[@]}"
  # --no-remove: Debian's libboost-dev (1.74), for one, would have to go; that is not ours to decide.
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends --no-remove \
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
    "${missing[@]}" </dev/null >$log 2>&1 || failed=1
  installed_packages >"$after"
  cmp -s "$before" "$after" || write_record "$before" "$after" "${missing[@]}"
  rm -f "$before" "$after"
  forget_our_policy
  if [ -n "$failed" ]; then
    tail -n 20 $log >&2
    die "apt-get install failed, see above (all of it: $log)"
  fi
}

build() {  # build PRESET [TARGET]
  cmake --preset "$1"
  cmake --build --preset "$1" --parallel "$(nproc)" ${2:+--target "$2"}
}

# Root loads no driver that somebody else could change, and the tree may be somebody else's.
own_drivers=''
copy_drivers() {  # copy_drivers FOLDER
  [ "$(id -u)" = 0 ] || return 0
  own_drivers=$(mktemp -d /tmp/hostler-drivers.XXXXXX)
  chmod 711 "$own_drivers"
  cp -R --no-preserve=ownership "$1/." "$own_drivers"
  chmod -R go-w "$own_drivers"
  export HOSTLER_DRIVER_PATH=$own_drivers
}

command=${1:-}
trap leave EXIT
trap 'exit 130' INT TERM HUP
[ -r /etc/debian_version ] || die "this script knows Debian 12 and 13 only; CONTRIBUTING.md lists what to install"
case $command in
  demo)
    install build
    build demo demo
    copy_drivers build/demo/lib/hostler/drivers
    build/demo/bin/hostler demo
    ;;
  test)
    shift
    case ${1:-} in
      '' | build) install test; build test ;;
    esac
    case ${1:-} in
      '') ctest --preset test ;;
      build) ;;
      run) shift; ctest --preset test "$@" ;;
      *) usage >&2; exit 2 ;;
    esac
    ;;
  packages)
    install "${2:-}"
    say "all packages for '$2' are there"
    ;;
  help | -h | --help)
    usage
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
