package main

import (
	"strconv"
	"strings"
)

// generator makes texts: most of them with a meaning, many of those with one mistake, and some that
// are only tokens. Equal seeds make equal texts, with any version of Go.
type generator struct {
	state     uint64
	variables []string
}

func newGenerator(seed uint64) *generator { return &generator{state: seed} }

// next is splitmix64.
func (g *generator) next() uint64 {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func (g *generator) below(n int) int         { return int(g.next() % uint64(n)) }
func (g *generator) chance(oneIn int) bool   { return g.below(oneIn) == 0 }
func (g *generator) of(any ...string) string { return any[g.below(len(any))] }

// text also says whether the result should be a boolean.
func (g *generator) text() (string, bool) {
	g.variables = nil
	boolean := g.chance(6)
	tokens := g.top(boolean)
	if g.chance(6) {
		tokens = g.broken(tokens)
	}
	if g.chance(25) {
		tokens = nil
		for n := 1 + g.below(9); n > 0; n-- {
			tokens = append(tokens, g.anyToken())
		}
	}
	return g.join(tokens), boolean != g.chance(25)
}

func (g *generator) top(boolean bool) []string {
	depth := 1 + g.below(4)
	if boolean {
		return g.boolean(depth)
	}
	return g.number(depth)
}

// join puts blanks and comments between tokens, or nothing: some become other tokens then.
func (g *generator) join(tokens []string) string {
	var out strings.Builder
	for i, token := range tokens {
		if i > 0 {
			out.WriteString(g.between(tokens[i-1], token))
		}
		out.WriteString(token)
	}
	return out.String()
}

func (g *generator) between(left, right string) string {
	switch g.below(60) {
	case 0:
		return g.of("\n", "\t", "\r\n", "\v", "\u00a0", "\u2003", "  ")
	case 1:
		return g.of("/* 2 */", "// x\n", "/**/", " /* a\nb */ ", "/***/", "//\n", " /* ü */")
	case 2:
		return ""
	}
	isWord := func(c byte) bool { return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
	if isWord(left[len(left)-1]) && isWord(right[0]) || g.chance(3) {
		return " "
	}
	return ""
}

func (g *generator) broken(tokens []string) []string {
	at := g.below(len(tokens))
	out := append([]string{}, tokens[:at]...)
	switch g.below(4) {
	case 0:
		return append(out, tokens[at+1:]...)
	case 1:
		return append(append(out, g.anyToken()), tokens[at:]...)
	case 2:
		return append(append(out, tokens[at], tokens[at]), tokens[at+1:]...)
	}
	return append(append(out, g.anyToken()), tokens[at+1:]...)
}

func (g *generator) anyToken() string {
	switch g.below(8) {
	case 0:
		return g.literal()
	case 1:
		return g.of("m", "rps", "started", "v1", "unknown", "x1", "true", "false", "_", "$")
	case 2:
		return g.of("len", "abs", "ceil", "floor", "round", "int", "float", "min", "max", "sum", "mean",
			"median", "filter", "map", "count", "now", "string", "all", "first", "sort", "bitand")
	case 3:
		return g.of("(", ")", "[", "]", ",", ";", "(", ")", "{", "}")
	case 4:
		return g.of("let", "nil", "$env", "'a'", "\"b\"", "`c`", "#", ".", "?.", "::", "|", "&", "=", "\\",
			"@", "é", "\x00", "\xff", "~", "contains", "matches", "'", "/*", "*/", "1z", "...")
	}
	return g.of("+", "-", "*", "/", "%", "**", "^", "==", "!=", "<", ">", "<=", ">=", "and", "or", "not",
		"&&", "||", "!", "in", "not", "..", "??", "?", ":", "?:")
}

func (g *generator) literal() string {
	switch g.below(12) {
	case 0:
		return g.of("0x2A", "0b101", "0o17", "0XfF", "1_000", "007", "0B1", "0O7", "1__0", "0x_1", "08")
	case 1:
		return g.of(".5", "1.", "1e3", "1e-7", "2.5e+2", "0.1", "1_0.2_5", "1e308", "1e-400", "1e-300", "00.5")
	case 2:
		return g.of("9223372036854775807", "4611686018427387904", "9007199254740993", "1000000", "999999",
			"1e19", "2147483648")
	case 3:
		if g.chance(5) {
			return g.of("9223372036854775808", "1e400", "0x", "0b2", "0o8", "1e", "1e+", "12abc", "1.2.3", ".5.5",
				"0x1.8", "0b1e1", "1_e5", "0xFFFFFFFFFFFFFFFF")
		}
	}
	if g.chance(3) {
		return strconv.Itoa(g.below(20)) + g.of(".0", ".5", ".25", ".1", "e0", ".75")
	}
	return strconv.Itoa(g.below(g.sizes()))
}

func (g *generator) sizes() int { return []int{3, 10, 10, 100, 2000}[g.below(5)] }
