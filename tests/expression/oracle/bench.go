package main

import (
	"fmt"
	"testing"

	"github.com/expr-lang/expr"
)

// benched are those of tests/bench/expression.
var benched = []string{
	"ceil(queue_depth / 100)",
	"min(50, (m + rps + queue_depth) / 100)",
	"started < 6 and queued in 8..17 ? 5 : 0",
	"let need = max(queue_depth / 20, rps / 100); need > 100 ? 100 : ceil(need * 1.2)",
}

func bench() {
	env := environments[7]
	for _, text := range benched {
		program, err := expr.Compile(text, expr.Env(env), expr.AsFloat64())
		if err != nil {
			panic(err)
		}
		compile := testing.Benchmark(func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				_, _ = expr.Compile(text, expr.Env(env), expr.AsFloat64())
			}
		})
		evaluate := testing.Benchmark(func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				_, _ = expr.Run(program, env)
			}
		})
		fmt.Printf("compile %8.2f us  evaluate %7.1f ns  %s\n", float64(compile.NsPerOp())/1000,
			float64(evaluate.NsPerOp()), text)
	}
}
