# shellcheck shell=bash disable=SC2034
# The stages of .ci/run and .ci/nightly; .ci/pipeline.sh runs them. Both are sourced at the top of the tree. With `only_changed` what has not changed since .ci/nightly passed is left out.
export CTEST_OUTPUT_ON_FAILURE=1
# With "expected" a machine that can run LXD must run its tests: tests/integration/lxd/lxd_lab.py decides.
export HOSTLER_LXD=${HOSTLER_LXD:-expected}
readonly venv=build/pip
export HOSTLER_SCHEMATHESIS=$PWD/$venv/bin/schemathesis HOSTLER_PIP=$PWD/$venv
only_changed='' fuzz_seconds=30  # for each target
readonly change_stages=(format layers debian test asan tsan clang)
# Only these may end with status 77: they need a network.
may_skip+=([expr]=yes [fresh_root]=yes [fresh_user]=yes)
readonly nightly_stages=("${change_stages[@]}" dev fuzz expr fresh_root fresh_user)

# Labels of the tests that run under a sanitizer (tests/CMakeLists.txt). asan watches memory wherever
# it is handled by hand or by coroutines; tsan whatever has threads of its own. Tests with the label
# `once` are left out: they send the daemon through code that others have sent it through.
labels+=([test]='' [asan]='unit abi integration fuzz'
  [tsan]='metrics store plugin_host driver_host ssh agent hosts api daemon')
left_out+=([asan]=once [tsan]=once)

# The commit that has passed the stage last, if this tree comes from it.
passed_at() {  # passed_at STAGE
  local commit
  [ -n "$only_changed" ] && commit=$(sed -n "s/^$1 //p" .ci/nightly-passed 2>/dev/null) && [ -n "$commit" ] &&
    git_here merge-base --is-ancestor "$commit" HEAD 2>/dev/null && echo "$commit"
}

# changed STAGE PATH...: whether one of them is not what it was when the stage passed.
changed() {
  local since
  since=$(passed_at "$1")
  shift
  [ -z "$since" ] || ! git_here diff --quiet "$since" -- "$@" ||
    [ -n "$(git_here ls-files --others --exclude-standard -- "$@")" ]
}

build_packages() { ./hostler.sh packages ci && pip_packages; }

# Python packages that Debian lacks. Without a network they are not installed, and their tests are skipped.
pip_packages() {
  local wanted=packaging/pip/ci.txt
  cmp -s $wanted $venv/installed.txt && return
  rm -rf $venv
  if python3 -m venv $venv &&
    $venv/bin/pip install --quiet --retries 1 --disable-pip-version-check --require-hashes -r $wanted; then
    cp $wanted $venv/installed.txt
  else
    echo "NOT INSTALLED: packaging/pip/ci.txt. The tests daemon.explore and ec2.* will be skipped."
  fi
}

build_format() {
  git_here ls-files -z -- '*.h' '*.hpp' '*.c' '*.cc' | xargs -0 clang-format-14 --dry-run -Werror
}

build_layers() {
  python3 tests/layers/check_layers.py . && python3 tests/style/check_scripts.py . &&
    python3 tests/style/check_programs.py .
}

# Before the tests: packages.life tries what this has built. Nobody debugs these.
build_debian() {
  DEB_BUILD_OPTIONS="parallel=$(nproc) noautodbgsym" DEB_CFLAGS_STRIP=-g DEB_CXXFLAGS_STRIP=-g \
    packaging/debian/build.sh
}

compile() {  # compile PRESET [TARGET...]
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null &&
    cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"}
}

compile_tests() {  # compile_tests STAGE
  local targets
  read -ra targets <<<"${labels[$1]}"
  compile "$1" "${targets[@]/#/tests-}"
}

build_test() { ./hostler.sh test build; }

# Where moto is installed the tests of EC2 have to run: they fail if they would be skipped. They need root.
ctest_test() {
  if [ "$(id -u)" = 0 ] && [ -e $venv/installed.txt ]; then export HOSTLER_EC2=${HOSTLER_EC2:-required}; fi
  ./hostler.sh test run "$@"
}

# clang looks for what mutexes guard in all that ships: an error in each of its builds.
build_asan() { compile_tests asan && safety_notices; }

build_tsan() { compile_tests tsan; }

# clang-tidy over what ships and has changed, a target's files as one; the tests are spared, and so is the
# making of code that nobody runs. clang-tidy reports unused names only in the file that it was given, so
# tests/style/check_style.py looks for them.
build_clang() {
  local files
  tidy_notices && cmake --preset tidy >/dev/null && name_as_unified &&
    python3 tests/style/tidy_targets.py --since "$(passed_at clang)" build/tidy >build/tidy/files || return
  mapfile -t files <build/tidy/files
  [ ${#files[@]} -gt 0 ] || return 0
  run-clang-tidy-14 -quiet -p build/tidy -j "$(nproc)" "${files[@]}" 2>&1 |
    sed -e '/^clang-tidy-14 .*-p=/d' -e '/ warnings\? generated\.$/d' -e 's/\x1b\[[0-9;]*m//g'
  return "${PIPESTATUS[0]}"
}

# clang's analyzer follows functions only in the file that is compiled, and in those that it includes
# if this is its name.
name_as_unified() {
  find build/tidy -name 'unity_*.cxx' -execdir sh -c 'cp "$1" "UnifiedSource_${1#./}"' sh {} \;
  sed -i 's#/Unity/unity_#/Unity/UnifiedSource_unity_#g' build/tidy/compile_commands.json
}

# A missing comma in .clang-tidy silently turns checks off, so count them. And plant a bad name, and
# a null dereference that only the analyzer sees, where all of the code is: in a file that is included.
tidy_notices() {
  local probe=build/core/tidy_probe.cc unified=build/core/UnifiedSource_probe.cxx count noticed
  count=$(clang-tidy-14 --list-checks core/base/text.cc -- | grep -c '^    ')
  echo "clang-tidy: $count checks are on"
  [ "$count" -ge 192 ] || { echo 'clang-tidy: fewer than 192; look at .clang-tidy'; return 1; }
  mkdir -p build/core
  cat >$probe <<'END'
int badName(bool which) {
  int* nothing = nullptr;
  return which ? *nothing : 0;
}
END
  echo '#include "tidy_probe.cc"' >$unified
  noticed=$(clang-tidy-14 --quiet $unified -- -std=c++20 2>/dev/null |
    grep -cE 'error: .*\[(readability-identifier-naming|clang-analyzer-core.NullDereference),')
  echo "clang-tidy: $noticed of 2 planted mistakes noticed"
  [ "$noticed" = 2 ]
}

# An analysis that is turned off reports nothing, like one that finds nothing. So plant two mistakes and compile
# them as the build does: a read of a guarded variable, and a wait, both without the mutex.
safety_notices() {
  local probe=build/safety_probe.cc flags noticed
  flags=$(sed -n 's/^ *"command": ".*clang++ \(.*\) -o core\/base\/.*",$/\1/;T;p;q' build/asan/compile_commands.json)
  cat >$probe <<'END'
#include "core/base/mutex.h"
struct Probe {
  hostler::Mutex mutex;
  hostler::Condition changed;
  int guarded HOSTLER_GUARDED_BY(mutex) = 0;
};
int look(Probe& probe) { return probe.guarded; }
void wait_for(Probe& probe) { probe.changed.wait(probe.mutex); }
END
  # shellcheck disable=SC2086
  noticed=$(clang++ $flags -fsyntax-only $probe 2>&1 | grep -c 'error: .*\[-Werror,-Wthread-safety')
  echo "thread safety: $noticed of 2 planted mistakes noticed"
  [ "$noticed" = 2 ]
}

# Only for .ci/nightly. Each file by itself, with missing includes as errors, and the benchmarks.
build_dev() { compile dev; }

build_fuzz() { tests/fuzz/run.sh all "$fuzz_seconds"; }

# Asks expr itself, in Go, about the kept corpus of expressions and about a new one; 77 where there is no network.
build_expr() {
  compile test expression_corpus_test &&
    tests/expression/renew.sh check "$PWD/build/test/tests/expression_corpus_test"
}

# Both commands of the README on a Debian that has nothing; 77 where there is no network.
build_fresh_root() { .ci/fresh root './hostler.sh demo && ./hostler.sh test'; }

build_fresh_user() { .ci/fresh user './hostler.sh demo && ./hostler.sh test'; }
