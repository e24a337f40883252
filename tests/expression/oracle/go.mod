module hostler/tests/expression

go 1.19

require github.com/expr-lang/expr v1.16.0
