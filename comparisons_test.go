package sinter_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A difference that is NaN is above no tolerance: tests ask for what is not within it,
// !(math.Abs(got-want) <= tolerance), or for NaN beside it.
func TestComparisonsFailForNaN(t *testing.T) {
	err := filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, file, nil, 0)
		if err != nil {
			return err
		}
		for _, at := range blindComparisons(f) {
			t.Errorf("%s: a NaN passes this comparison", files.Position(at))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBlindComparisons(t *testing.T) {
	for text, blind := range map[string]bool{
		"if math.Abs(a-b) > 1 {}":                                        true,
		"if x := f(); ok || 1 < math.Abs(float64(x-b)) {}":               true,
		"if d := math.Abs(a - b); d > 1 {}":                              true,
		"switch { case a == b: case math.Abs(a-b) > 1: }":                true,
		"if !(math.Abs(a-b) <= 1) {}":                                    false,
		"if d := math.Abs(a - b); !(d <= 1) {}":                          false,
		"if math.IsNaN(a) != math.IsNaN(b) || math.Abs(a-b) > 1 {}":      false,
		"switch { case math.IsNaN(a): case math.Abs(a-b) > 1: }":         false,
		"if math.Abs(a-b) > math.Abs(a-c) {}":                            false,
		"if math.Abs(a) > 1 {}":                                          false,
		"for math.Abs(a-b) > 1 {}":                                       false,
		"if math.Abs(a-b) < 1 { return }; if d := a - b; d > 1 {return}": false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {"+text+"}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(blindComparisons(f)) > 0; got != blind {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// blindComparisons are conditions that ask whether a difference is above something.
func blindComparisons(f *ast.File) (at []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		var init ast.Stmt
		var conditions []ast.Expr
		switch n := n.(type) {
		case *ast.IfStmt:
			init, conditions = n.Init, []ast.Expr{n.Cond}
		case *ast.SwitchStmt:
			init = n.Init
			for _, c := range n.Body.List {
				conditions = append(conditions, c.(*ast.CaseClause).List...)
			}
		}
		apart := map[string]bool{} // names of differences
		if set, ok := init.(*ast.AssignStmt); ok && len(set.Lhs) == len(set.Rhs) {
			for i, x := range set.Rhs {
				if name, ok := set.Lhs[i].(*ast.Ident); ok && isDifference(x) {
					apart[name.Name] = true
				}
			}
		}
		difference := func(x ast.Expr) bool {
			name, ok := x.(*ast.Ident)
			return ok && apart[name.Name] || isDifference(x)
		}
		if slices.ContainsFunc(conditions, asksForNaN) {
			return true
		}
		for _, c := range conditions {
			ast.Inspect(c, func(n ast.Node) bool {
				b, ok := n.(*ast.BinaryExpr)
				if !ok {
					return true
				}
				x, y := difference(b.X), difference(b.Y) // where both are, it is the nearer that is asked for
				if x && !y && (b.Op == token.GTR || b.Op == token.GEQ) || y && !x && (b.Op == token.LSS || b.Op == token.LEQ) {
					at = append(at, b.Pos())
				}
				return true
			})
		}
		return true
	})
	return at
}

// isDifference tells whether x is math.Abs of something with a minus in it.
func isDifference(x ast.Expr) (is bool) {
	call, ok := x.(*ast.CallExpr)
	if !ok || !isMath(call, "Abs") {
		return false
	}
	ast.Inspect(call.Args[0], func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		is = is || ok && b.Op == token.SUB
		return !is
	})
	return is
}

func asksForNaN(x ast.Expr) (asks bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		asks = asks || ok && isMath(call, "IsNaN")
		return !asks
	})
	return asks
}

// isMath tells whether a call is one of a function of package math.
func isMath(call *ast.CallExpr, name string) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != name {
		return false
	}
	from, ok := f.X.(*ast.Ident)
	return ok && from.Name == "math"
}
