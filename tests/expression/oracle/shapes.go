package main

// The shapes of expressions, by the type that they should have. Parentheses are put around an operand
// by chance, so that the precedences decide.

func list(parts ...[]string) (out []string) {
	for _, part := range parts {
		out = append(out, part...)
	}
	return out
}

func word(text string) []string { return []string{text} }

func (g *generator) grouped(tokens []string) []string {
	if len(tokens) > 1 && g.chance(3) {
		return list(word("("), tokens, word(")"))
	}
	return tokens
}

func (g *generator) join2(left []string, operator string, right []string) []string {
	return list(g.grouped(left), word(operator), g.grouped(right))
}

// call has the right number of arguments mostly.
func (g *generator) call(name string, arguments ...[]string) []string {
	if g.chance(60) {
		arguments = append(arguments, g.number(0))
	}
	out := []string{name, "("}
	for i, argument := range arguments {
		if i > 0 {
			out = append(out, ",")
		}
		out = append(out, argument...)
	}
	return append(out, ")")
}

func (g *generator) wrongly() bool { return g.chance(80) }

func (g *generator) number(depth int) []string {
	if g.wrongly() {
		return list(g.boolean(depth - 1))
	}
	if depth <= 0 {
		return g.plainNumber()
	}
	if g.chance(100) {
		return g.foreign(depth - 1)
	}
	depth--
	switch g.below(16) {
	case 0, 1, 2, 3, 4:
		return g.join2(g.number(depth), g.of("+", "-", "*", "/", "*", "+"), g.number(depth))
	case 5:
		return g.join2(g.number(depth), g.of("**", "^"), g.number(depth))
	case 6:
		return list(word(g.of("-", "-", "+")), g.grouped(g.number(depth)))
	case 7:
		if g.chance(8) {
			return list(g.grouped(g.boolean(depth)), word("?:"), g.number(depth))
		}
		return list(g.grouped(g.boolean(depth)), word("?"), g.number(depth), word(":"), g.number(depth))
	case 8, 9:
		return g.call(g.of("abs", "ceil", "floor", "round", "float"), g.number(depth))
	case 10:
		return g.extreme(depth)
	case 11:
		return g.call(g.of("sum", "mean", "median", "sum"), g.array(depth))
	case 12:
		return g.join2(g.number(depth), "??", g.number(depth))
	case 13:
		return g.let(depth, g.number)
	}
	return g.whole(depth)
}

// foreign is what expr computes and hostler's language leaves out.
func (g *generator) foreign(depth int) []string {
	switch g.below(4) {
	case 0:
		return g.call(g.of("bitand", "bitor", "bitxor"), g.whole(depth), g.whole(depth))
	case 1:
		return g.call(g.of("first", "last"), g.array(depth))
	case 2:
		return list(g.array(depth), word("["), g.whole(0), word("]"))
	}
	return list(word("count"), word("("), g.array(depth), []string{",", "#", ">"}, g.number(0), word(")"))
}

func (g *generator) extreme(depth int) []string {
	arguments := [][]string{g.number(depth)}
	for g.chance(2) {
		arguments = append(arguments, g.number(depth))
	}
	return g.call(g.of("min", "max"), arguments...)
}

func (g *generator) plainNumber() []string {
	if len(g.variables) > 0 && g.chance(3) {
		return word(g.variables[g.below(len(g.variables))])
	}
	if g.chance(2) {
		return word(g.literal())
	}
	return word(g.of(names...))
}

func (g *generator) whole(depth int) []string {
	if g.chance(30) {
		return g.number(depth)
	}
	if depth <= 0 {
		if g.chance(3) {
			return word(g.of("started", "queued"))
		}
		return word(g.of("0", "1", "2", "3", "5", "7", "8", "17", "24", "100", "0x10", "1_000"))
	}
	depth--
	switch g.below(8) {
	case 0, 1:
		return g.join2(g.whole(depth), g.of("+", "-", "*"), g.whole(depth))
	case 2, 3:
		return g.join2(g.whole(depth), "%", g.whole(depth))
	case 4:
		return g.call("int", g.number(depth))
	case 5:
		return g.call("len", g.array(depth))
	case 6:
		return list(word("-"), g.grouped(g.whole(depth)))
	}
	return g.call(g.of("abs", "min", "max"), g.whole(depth))
}

func (g *generator) boolean(depth int) []string {
	if g.wrongly() {
		return g.number(depth - 1)
	}
	if depth <= 0 {
		if g.chance(3) {
			return word(g.of("true", "false"))
		}
		return g.join2(g.plainNumber(), g.of("<", ">", "<=", ">=", "==", "!="), g.plainNumber())
	}
	depth--
	switch g.below(9) {
	case 0, 1:
		return g.join2(g.number(depth), g.of("<", ">", "<=", ">=", "==", "!="), g.number(depth))
	case 2, 3:
		return g.join2(g.boolean(depth), g.of("and", "or", "&&", "||"), g.boolean(depth))
	case 4:
		return list(word(g.of("not", "!")), g.grouped(g.boolean(depth)))
	case 5:
		return g.join2(g.boolean(depth), g.of("==", "!="), g.boolean(depth))
	case 6:
		return g.join2(g.array(depth), g.of("==", "!="), g.array(depth))
	}
	left := g.number(depth)
	if g.chance(2) {
		left = g.whole(depth)
	}
	if g.chance(3) {
		return list(g.grouped(left), word("not"), word("in"), g.grouped(g.array(depth)))
	}
	return g.join2(left, "in", g.array(depth))
}

func (g *generator) array(depth int) []string {
	if g.wrongly() {
		return g.number(depth)
	}
	switch g.below(5) {
	case 0, 1:
		return g.join2(g.whole(depth-1), "..", g.whole(depth-1))
	case 2:
		if depth > 0 && g.chance(3) {
			return list(word("("), g.boolean(depth-1), word("?"), g.array(depth-1), word(":"), g.array(depth-1),
				word(")"))
		}
	}
	out := []string{"["}
	for n := g.below(5); n > 0; n-- {
		if len(out) > 1 {
			out = append(out, ",")
		}
		if g.chance(2) {
			out = append(out, g.literal())
		} else {
			out = append(out, g.number(depth-1)...)
		}
	}
	if len(out) > 1 && g.chance(12) {
		out = append(out, ",")
	}
	return append(out, "]")
}

func (g *generator) let(depth int, rest func(int) []string) []string {
	name := g.of("v1", "v2", "peak", "true", "m")
	if name == "m" && !g.chance(20) {
		name = "v3"
	}
	var value []string
	switch g.below(6) {
	case 0:
		value = g.array(depth)
	case 1:
		value = g.boolean(depth)
	default:
		value = g.number(depth)
	}
	g.variables = append(g.variables, name)
	out := list([]string{"let", name, "="}, value, word(";"), rest(depth))
	g.variables = g.variables[:len(g.variables)-1]
	if g.chance(3) {
		return out
	}
	return list(word("("), out, word(")"))
}
