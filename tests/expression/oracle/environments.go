package main

import "math"

// names are those of the inputs, in the order in which the corpus has them: counts of a pool, which
// are whole, then metrics.
var names = []string{"started", "queued", "m", "rps", "queue_depth", "x1"}

// environments are what expressions are computed with.
var environments = []map[string]any{
	values(0, 0, 0, 0.5, 1, 100),
	values(3, 12, 7, 7.25, -2, 1e6),
	values(1, 5, 2.5, -0.5, 3, 0.1),
	values(20, 0, 1234.5678, 1e-9, 17, 2),
	values(7, 1000000, math.NaN(), 4, 9007199254740993, 0.3),
	values(-3, 2, math.Inf(1), math.Inf(-1), -1, 5),
	values(0, 63, 1e308, -1e19, 9223372036854775807, math.Copysign(0, -1)),
	values(64, 10, 42, 1.5, 8, 12.999999999999998),
}

func values(started, queued int, m, rps, queueDepth, x1 float64) map[string]any {
	return map[string]any{"started": started, "queued": queued, "m": m, "rps": rps,
		"queue_depth": queueDepth, "x1": x1}
}
