#!/bin/bash
# Looks for inputs that break a promise of tests/fuzz/targets.
#   tests/fuzz/run.sh TARGET[,TARGET...]|all SECONDS      one after the other, for so long each; ends with a table
#   tests/fuzz/run.sh --minimise TARGET[,TARGET...]|all   adds to the corpus what was found and reaches new code
# Findings are in build/fuzz/findings/TARGET, logs and what was found beside them. 1 if this run made any.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
readonly here=$PWD/tests/fuzz work=$PWD/build/fuzz
readonly kept_max=50  # files of one corpus

usage() { sed -n '2,5s/^# \{0,1\}//p' "$here/run.sh"; exit 2; }

targets_of() {
  if [ "$1" = all ]; then
    for file in "$here"/targets/*.cc; do basename "$file" .cc; done
  else
    tr ',' '\n' <<<"$1"
  fi
}

build() {
  cmake --preset fuzz >/dev/null
  local programs=()
  for target; do programs+=("fuzz_$target"); done
  nice cmake --build build/fuzz --parallel "$(nproc)" --target "${programs[@]}"
}

# Bounds that every run has: memory, size of an input, time for one.
bounds_of() {
  local max_len=4096
  case $1 in
    ssh_keys) max_len=2048 ;;
    config | expression | http) max_len=8192 ;;
  esac
  echo "-rss_limit_mb=1024 -malloc_limit_mb=512 -timeout=20 -max_len=$max_len"
  if [ -e "$here/dictionaries/$1.dict" ]; then echo "-dict=$here/dictionaries/$1.dict"; fi
}

fuzz() {  # fuzz TARGET SECONDS: one line of the table
  local target=$1 seconds=$2 log=$work/logs/$1.log findings=$work/findings/$1 found=$work/found/$1
  mkdir -p "$findings" "$found" "$work/logs"
  touch "$work/logs/$target.begun"
  # shellcheck disable=SC2046
  nice "$work/fuzz/fuzz_$target" $(bounds_of "$target") -max_total_time="$seconds" \
    -artifact_prefix="$findings/" -print_final_stats=1 -verbosity=1 \
    "$found" "$here/corpus/$target" >"$log" 2>&1 || true
  local runs edges count
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  count=$(find "$findings" -type f -newer "$work/logs/$target.begun" | wc -l)
  printf '%-16s %8d %12d %8d %8d %9d\n' "$target" "$seconds" "${runs:-0}" \
    $((${runs:-0} / seconds)) "${edges:-0}" "$count"
  # A fuzzer that did not even start has found something too.
  [ "$count" -eq 0 ] && grep -q '^Done ' "$log"
}

minimise() {
  local target=$1 next=$work/minimised/$1 corpus=$here/corpus/$1 left
  rm -rf "$next"
  mkdir -p "$next" "$work/found/$target" "$work/logs"
  cp "$corpus"/* "$next"
  # shellcheck disable=SC2046
  nice "$work/fuzz/fuzz_$target" $(bounds_of "$target") -merge=1 "$next" "$work/found/$target" \
    >"$work/logs/$target.merge" 2>&1
  left=$((kept_max - $(find "$corpus" -type f | wc -l)))
  # The smallest first; names of our own stay.
  (cd "$next" && find . -type f -size -3k -printf '%s %f\n' | sort -n | cut -d ' ' -f 2) |
    while read -r name; do
      [ "$left" -gt 0 ] || break
      [ -e "$corpus/$name" ] && continue
      cp "$next/$name" "$corpus/$name"
      left=$((left - 1))
    done
  echo "$target: $(find "$corpus" -type f | wc -l) files"
}

[ $# -eq 2 ] || usage
if [ "$1" = --minimise ]; then
  for target in $(targets_of "$2"); do minimise "$target"; done
  exit
fi
mapfile -t targets < <(targets_of "$1")
build "${targets[@]}"
status=0
printf '%-16s %8s %12s %8s %8s %9s\n' target seconds executions exec/s edges findings
for target in "${targets[@]}"; do fuzz "$target" "$2" || status=1; done
exit $status
