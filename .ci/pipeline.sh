# shellcheck shell=bash
# How stages run, for .ci/run and .ci/nightly; what they do is in .ci/stages.sh. A stage NAME is a function
# build_NAME. If labels[NAME] is set, it also has tests, those of the preset NAME with one of these labels
# (empty: all), less those of left_out[NAME]: they run while the next stage builds, except for those that want
# the machine for themselves (label `serial`) or a second try. A function ctest_NAME may run them in place of ctest.
readonly logs=build/ci tries=build/second-tries
readonly tries_kept=20
declare -A labels=() left_out=() may_skip=() jobs=() ended=() verdicts=()
summary=() excerpts=() under_way=

# The tree may belong to another user.
git_here() { git -c safe.directory='*' "$@"; }

# start JOB NICENESS COMMAND...: in the background, in a process group of its own, into its own log.
start() {
  local job=$1 niceness=$2
  shift 2
  rm -f "$logs/$job.log" "$logs/$job.time"
  : >"$logs/$job.log"
  set -m
  {
    [ "$niceness" = 0 ] || renice -n "$niceness" -p "$BASHPID" >/dev/null
    TIMEFORMAT='%R %U %S'
    { time "$@" >>"$logs/$job.log" 2>&1; } 2>"$logs/$job.time"
  } &
  jobs[$job]=$!
  set +m
}

# Waits until the job has ended, and returns its status.
finish() {
  if [ -z "${ended[$1]:-}" ]; then
    wait "${jobs[$1]}"
    ended[$1]=$?
  fi
  return "${ended[$1]}"
}

# Prints what the job has written and writes until it ends, and returns its status. Only `wait` lets a
# signal through at once.
follow() {
  if [ -n "${ended[$1]:-}" ]; then
    cat "$logs/$1.log"
  else
    tail -n +1 -s 0.05 -f --pid="${jobs[$1]}" "$logs/$1.log" &
    wait $!
  fi
  finish "$1"
}

# minutes JOB...: of all together, those that have run, and their CPU minutes.
minutes() {
  local job
  for job; do [ -z "${jobs[$job]:-}" ] || cat "$logs/$job.time"; done |
    awk '{ wall += $1; cpu += $2 + $3 } END { printf "%5.1f min (cpu %5.1f)", wall / 60, cpu / 60 }'
}

# The logs of the stage NAME, in the order in which they came to be.
logs_of() {
  local part
  for part in build beside alone again; do
    [ -z "${jobs[$1.$part]:-}" ] || cat "$logs/$1.$part.log"
  done
}

any_of() { local IFS='|'; echo "^($*)\$"; }

run_ctest() {  # run_ctest STAGE ARGUMENT...
  local stage=$1
  shift
  if declare -F "ctest_$stage" >/dev/null; then "ctest_$stage" "$@"; else ctest --preset "$stage" "$@"; fi
}

# tests STAGE beside|alone: beside a build, or those that must run alone.
tests() {
  local arguments=("$1") excluded
  read -ra excluded <<<"${left_out[$1]:-}"
  # shellcheck disable=SC2086
  [ -z "${labels[$1]}" ] || arguments+=(-L "$(any_of ${labels[$1]})")
  if [ "$2" = alone ]; then arguments+=(-L '^serial$' --no-tests=ignore); else excluded+=(serial); fi
  [ ${#excluded[@]} = 0 ] || arguments+=(-LE "$(any_of "${excluded[@]}")")
  run_ctest "${arguments[@]}"
}

failed_tests() {
  sed -n '/^The following tests FAILED:/,/^Errors while/s/^[[:space:]]*[0-9]* - \(.*\) ([^()]*)$/\1/p'
}

# One or two tests of whole processes that fail, and pass when they alone are run again, do not refuse a
# change: the summary names them, and each is a bug of its own. A report of a sanitizer, or an assertion
# that failed, is never tried again.
may_try_again() {  # may_try_again STAGE FAILED...
  local stage=$1 test
  shift
  [ $# -ge 1 ] && [ $# -le 2 ] || return
  for test; do [[ $test =~ ^[a-z0-9_]+\. ]] || return; done
  ! logs_of "$stage" | grep -qE 'Sanitizer: |runtime error: |broken invariant'
}

again() {  # again STAGE TEST...
  local preset=$1
  shift
  run_ctest "$preset" -R "$(any_of "${@//./[.]}")"
}

# run_part STAGE beside|alone: for run_tests. A part that fails and names no test did not run to its end.
run_part() {
  local named
  start "$1.$2" 0 tests "$1" "$2"
  follow "$1.$2" && return
  status=1
  mapfile -t named < <(failed_tests <"$logs/$1.$2.log")
  [ ${#named[@]} -gt 0 ] || complete=
  failed+=("${named[@]}")
}

# run_tests STAGE NEXT: NEXT builds meanwhile, if there is a next stage.
run_tests() {
  local stage=$1 next=$2 status=0 failed=() complete=yes
  [ -z "$next" ] || start "$next.build" 19 "build_$next"
  run_part "$stage" beside
  if [ -n "$next" ]; then
    printf '=== %s: its other tests wait until %s is built\n' "$stage" "$next"
    finish "$next.build"
  fi
  run_part "$stage" alone
  if [ $status = 1 ] && [ -n "$complete" ] && may_try_again "$stage" "${failed[@]}"; then
    printf '=== %s: tried again: %s\n' "$stage" "${failed[*]}"
    start "$stage.again" 0 again "$stage" "${failed[@]}"
    if follow "$stage.again"; then status=0; fi
    second_tries=("${failed[@]}")
  fi
  return $status
}

# The lines of a failed stage's logs that explain the failure. They are repeated at the end of the output, for a
# reader who sees only the end: each failed test's own output, or what came before the compiler or a checker gave up.
excerpt() {
  local lines=60 log
  log=$(logs_of "$1")
  if grep -q '^The following tests FAILED:' <<<"$log"; then
    grep -A $lines '\*\*\*\(Failed\|Timeout\|Exception\|Not Run\)' <<<"$log" | cut -c -400
    sed -n '/^The following tests FAILED:/,/^Errors while/p' <<<"$log"
  elif grep -q 'FAILED: ' <<<"$log"; then
    grep -A $lines 'FAILED: ' <<<"$log" | cut -c -400
  else
    tail -n $lines <<<"$log" | cut -c -400
  fi
}

# One line for each time that the stage ran its tests: the stage, and those that needed a second try.
count_second_tries() {  # count_second_tries STAGE TEST...
  local stage=$1 test recent
  echo "$*" >>"$tries"
  recent=$(grep "^$stage\( \|\$\)" "$tries" | tail -n $tries_kept)
  shift
  for test; do
    printf '  second try: %s (in %d of the last %d runs)' "$test" \
      "$(grep -c " ${test//./[.]}\( \|\$\)" <<<"$recent")" "$(wc -l <<<"$recent")"
  done
}

# run_stage STAGE NEXT: sets verdicts[STAGE] to ok, FAILED, or skipped (status 77 of a build that may_skip).
run_stage() {
  local stage=$1 next=$2 status=0 notes second_tries=() skipped
  under_way=$stage
  printf '\n=== %s\n' "$stage"
  [ -n "${jobs[$stage.build]:-}" ] || start "$stage.build" 0 "build_$stage"
  follow "$stage.build" || status=$?
  notes="build $(minutes "$stage.build")"
  if [ $status = 0 ] && [ -n "${labels[$stage]+set}" ]; then
    run_tests "$stage" "$next" || status=1
    notes+="  run $(minutes "$stage.beside" "$stage.alone" "$stage.again")"
    notes+=$(count_second_tries "$stage" "${second_tries[@]}")
  fi
  skipped=$(logs_of "$stage" | sed -n 's/^[[:space:]]*[0-9]* - \(.*\) (Skipped)$/\1/p' | paste -s -d ' ')
  case $status:${may_skip[$stage]:-} in
    0:*) verdicts[$stage]=ok ;;
    77:yes) verdicts[$stage]=skipped ;;
    *) verdicts[$stage]=FAILED excerpts+=("$(printf '=== %s FAILED, from its logs:\n' "$stage"; excerpt "$stage")") ;;
  esac
  summary+=("$(printf '%-9s %-7s %s' "$stage" "${verdicts[$stage]}" "$notes${skipped:+  skipped: $skipped}")")
  # All of them each time: where the run is cut off, the end of its output says how far it came.
  printf '=== %s\n' "${summary[@]}"
}

end_jobs() {
  local job
  for job in "${!jobs[@]}"; do kill -TERM -- "-${jobs[$job]}" 2>/dev/null; done
  # Tests end what they have started. Some seconds are enough, or they hang.
  for _ in {1..50}; do
    [ -n "$(jobs -r)" ] || return
    read -rt 0.1 <> <(:)
  done
  for job in "${!jobs[@]}"; do kill -KILL -- "-${jobs[$job]}" 2>/dev/null; done
}

cut_off() {
  end_jobs
  printf '\n=== cut off during %s; before that:\n' "$under_way"
  printf '%s\n' "${summary[@]}"
  exit 143
}

# run_stages STAGE...: packages first, without which nothing else can run. 1 if any failed.
run_stages() {
  local stages i stage
  [ "${1:-}" = packages ] || set -- packages "$@"
  stages=("$@")
  for stage; do
    declare -F "build_$stage" >/dev/null || {
      echo "there is no stage '$stage', but: $(declare -F | sed -n 's/^declare -f build_//p' | paste -s -d ' ')" >&2
      return 2
    }
  done
  SECONDS=0
  mkdir -p $logs
  trap cut_off TERM INT HUP
  for i in "${!stages[@]}"; do
    run_stage "${stages[i]}" "${stages[i + 1]:-}"
    after_stage "${stages[i]}"
    [ "${verdicts[packages]}" = ok ] || break
  done
  printf '\n'
  [ ${#excerpts[@]} = 0 ] || printf '%s\n\n' "${excerpts[@]}"
  printf '%s\n' "${summary[@]}"
  printf '%d minutes in all\n' $(((SECONDS + 30) / 60))
  [ ${#excerpts[@]} = 0 ]
}
