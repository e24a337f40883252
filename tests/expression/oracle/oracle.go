package main

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"
)

var supported = map[string]bool{"len": true, "abs": true, "ceil": true, "floor": true, "round": true,
	"int": true, "float": true, "min": true, "max": true, "sum": true, "mean": true, "median": true}

// expected is a number, true or false; "c" or "r" if expr refuses the text when it compiles or runs;
// or "-" and what the text has of expr that hostler's language has not.
func expected(text string, boolean bool, env map[string]any) (out string) {
	defer func() {
		if recover() != nil {
			out = "c" // expr panics, on a few texts
		}
	}()
	if tokens, err := lexer.Lex(file.NewSource(text)); err == nil {
		if foreign := foreignToken(tokens); foreign != "" {
			return "-" + foreign
		}
	}
	if tree, err := parser.ParseWithConfig(text, conf.New(env)); err == nil {
		if _, err := checker.Check(tree, conf.New(env)); err == nil {
			if foreign := foreignNode(&tree.Node); foreign != "" {
				return "-" + foreign
			}
		}
	}
	wanted := expr.AsFloat64()
	if boolean {
		wanted = expr.AsBool()
	}
	program, err := expr.Compile(text, expr.Env(env), wanted)
	if err != nil {
		return "c"
	}
	result, err := expr.Run(program, env)
	if err != nil {
		return "r"
	}
	switch result := result.(type) {
	case bool:
		if boolean {
			return strconv.FormatBool(result)
		}
	case float64:
		if !boolean {
			return shown(result)
		}
	}
	return "r" // AsBool() lets other types pass where it learns of them too late
}

func shown(number float64) string {
	if math.IsNaN(number) {
		return "nan"
	}
	if math.IsInf(number, 0) {
		return fmt.Sprintf("%cinf", "+-"[(1-int(math.Copysign(1, number)))/2])
	}
	return strconv.FormatFloat(number, 'g', -1, 64)
}

// foreignToken names what only expr has, as the tokens show it.
func foreignToken(tokens []lexer.Token) string {
	signs := map[string]string{"|": "pipe", "{": "map", "#": "closure", "::": "colons", ".": "member",
		"?.": "member", "matches": "text", "contains": "text", "startsWith": "text", "endsWith": "text"}
	for _, token := range tokens {
		switch token.Kind {
		case lexer.String:
			return "text"
		case lexer.Identifier:
			if token.Value == "nil" || token.Value == "$env" {
				return token.Value
			}
			for _, letter := range token.Value {
				if letter > 127 {
					return "letters"
				}
			}
		case lexer.Operator, lexer.Bracket:
			if foreign := signs[token.Value]; foreign != "" {
				return foreign
			}
		}
	}
	return ""
}

type finder struct {
	variables map[string]bool
	found     string
}

// foreignNode names what only expr has, as the tree shows it.
func foreignNode(node *ast.Node) string {
	out := &finder{variables: map[string]bool{}}
	ast.Walk(node, declared(out.variables))
	ast.Walk(node, out)
	return out.found
}

type declared map[string]bool

func (names declared) Visit(node *ast.Node) {
	if let, ok := (*node).(*ast.VariableDeclaratorNode); ok {
		names[let.Name] = true
	}
}

func (f *finder) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.MemberNode, *ast.SliceNode:
		f.found = "index"
	case *ast.CallNode:
		f.found = "call"
	case *ast.BuiltinNode:
		if !supported[n.Name] {
			f.found = "builtin"
		}
	case *ast.IdentifierNode:
		if _, ok := builtin.Index[n.Value]; ok && !f.variables[n.Value] {
			f.found = "function" // as a value
		}
	case *ast.ArrayNode:
		for _, element := range n.Nodes {
			if t := element.Type(); t != nil && (t.Kind() == reflect.Bool || t.Kind() == reflect.Slice) {
				f.found = "array" // not of numbers
			}
		}
	}
}
