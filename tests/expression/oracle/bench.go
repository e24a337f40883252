package main

import (
	"fmt"
	"syscall"
	"time"

	"github.com/expr-lang/expr"
)

// benched are those of tests/bench/expression.
var benched = []string{
	"ceil(queue_depth / 100)",
	"min(50, (m + rps + queue_depth) / 100)",
	"started < 6 and queued in 8..17 ? 5 : 0",
	"let need = max(queue_depth / 20, rps / 100); need > 100 ? 100 : ceil(need * 1.2)",
}

// cpuTime is that of the whole process, so that others on the machine and waits do not count.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// each is the CPU time of one call.
func each(calls int, call func()) time.Duration {
	begin := cpuTime()
	for i := 0; i < calls; i++ {
		call()
	}
	return (cpuTime() - begin) / time.Duration(calls)
}

func bench() {
	env := environments[7]
	for _, text := range benched {
		program, err := expr.Compile(text, expr.Env(env), expr.AsFloat64())
		if err != nil {
			panic(err)
		}
		compile := each(20_000, func() { _, _ = expr.Compile(text, expr.Env(env), expr.AsFloat64()) })
		evaluate := each(2_000_000, func() { _, _ = expr.Run(program, env) })
		fmt.Printf("compile %6.1f us  evaluate %5d ns  %s\n", float64(compile.Nanoseconds())/1000,
			evaluate.Nanoseconds(), text)
	}
}
