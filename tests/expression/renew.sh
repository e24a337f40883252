#!/bin/bash
# The corpus of expressions, by expr itself; needs Go 1.19 and, once, a network for expr's module.
#   tests/expression/renew.sh keep           makes corpus.gz anew
#   tests/expression/renew.sh check PROGRAM  it is what expr says, and PROGRAM (expression_corpus_test) agrees with
#                                            expr about as many other expressions; 77 without a network
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
readonly seed=34 count=100000 work=$PWD/../../build/expression

corpus() { "$work/oracle" corpus "$1" $count | gzip -9 -n; }  # corpus SEED

mkdir -p "$work"
if ! (cd oracle && go mod download) >"$work"/download.log 2>&1; then
  cat "$work"/download.log
  exit 77
fi
(cd oracle && go build -buildvcs=false -o "$work/oracle" .)
case ${1:-} in
  keep) corpus $seed >corpus.gz ;;
  check)
    cmp <(gzip -dc corpus.gz) <("$work/oracle" corpus $seed $count)
    other=$(git -c safe.directory='*' rev-parse --short=8 HEAD)
    corpus $((16#$other)) >"$work"/corpus.gz
    echo "another corpus: seed $((16#$other))"
    HOSTLER_EXPRESSION_CORPUS="$work"/corpus.gz "$2" --gtest_filter='*EachText*:*WhatOnly*'
    ;;
  *) sed -n '3,5s/^# \{0,1\}//p' renew.sh && exit 2 ;;
esac
