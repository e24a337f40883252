// What expr v1.16.0 makes of expressions: ../README.md.
//
//	go run . corpus SEED COUNT    generated expressions, each with what expr makes of it
//	go run . bench                how long expr takes
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

const module = "github.com/expr-lang/expr"

// versionAndSum are those of the module that this program is built with.
func versionAndSum() (string, string) {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version, dependency.Sum
		}
	}
	panic("this program is built without " + module)
}

func writeCorpus(seed uint64, count int) {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	version, sum := versionAndSum()
	fmt.Fprintf(out, "# %s %s %s\n# seed %d count %d\n", module, version, sum, seed, count)
	for i, env := range environments {
		fmt.Fprintf(out, "# values %d", i)
		for _, name := range names {
			fmt.Fprintf(out, " %s=%v", name, env[name])
		}
		fmt.Fprintln(out)
	}
	generator := newGenerator(seed)
	escape := strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r")
	for i := 0; i < count; i++ {
		text, boolean := generator.text()
		env := generator.below(len(environments))
		kind := "n"
		if boolean {
			kind = "b"
		}
		fmt.Fprintf(out, "%s%d %s %s\n", kind, env, expected(text, boolean, environments[env]),
			escape.Replace(text))
	}
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "corpus" {
		seed, seedProblem := strconv.ParseUint(os.Args[2], 10, 64)
		count, countProblem := strconv.Atoi(os.Args[3])
		if seedProblem == nil && countProblem == nil {
			writeCorpus(seed, count)
			return
		}
	}
	if len(os.Args) == 2 && os.Args[1] == "bench" {
		bench()
		return
	}
	fmt.Fprintln(os.Stderr, "usage: go run . corpus SEED COUNT | bench")
	os.Exit(2)
}
