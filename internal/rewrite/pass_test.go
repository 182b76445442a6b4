package rewrite

import (
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

func TestOrder(t *testing.T) {
	if err := checkOrder(); err != nil {
		t.Error(err)
	}
	for _, p := range Passes() {
		if p.Doc == "" {
			t.Errorf("pass %s is not documented", p.Name)
		}
		seen := map[string]bool{}
		for _, r := range p.Rules {
			if r.Reason == "" || seen[r.Name] {
				t.Errorf("rule %s has no reason or comes twice", r.Name)
			}
			seen[r.Name] = true
		}
	}
}

func TestOrderNoticesAWrongTable(t *testing.T) {
	saved := passes
	defer func() { passes = saved }()
	passes = slices.Clone(saved)
	slices.Reverse(passes)
	if err := checkOrder(); err == nil || !strings.Contains(err.Error(), "fold must come before fma") {
		t.Errorf("reversed passes: %v", err)
	}
}

func parse(t *testing.T, text string) *ir.Graph {
	t.Helper()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// double has work for simplify (twice the same rule, on different nodes) and
// for fma.
const double = `graph
leaf 0 input "x" f32[4]
leaf 1 input "y" f32[4]
%x = input : f32[4]
%y = input leaf=1 : f32[4]
%a = neg %x : f32[4]
%b = neg %a : f32[4]
%c = neg %y : f32[4]
%d = neg %c : f32[4]
%e = mul %b %d : f32[4]
%f = add %e %x : f32[4]
return %f
`

func TestNoOpt(t *testing.T) {
	tests := []struct {
		off  string
		want map[string]int // rewrites
	}{
		{"", map[string]int{"simplify/neg-neg": 2, "fma": 1}},
		{"simplify/neg-neg", map[string]int{"simplify/mul-signs": 2, "simplify/neg-neg": 0, "fma": 1}},
		{"simplify", map[string]int{"fma": 1}},
		{"fma,simplify/neg-neg", map[string]int{"simplify/mul-signs": 2}},
		{"fma", map[string]int{"simplify/neg-neg": 2}},
		{"simplify,fma", nil},
		{"all", nil},
	}
	for _, tt := range tests {
		g := parse(t, double)
		var off []string
		if tt.off != "" {
			off = strings.Split(tt.off, ",")
		}
		after, stats, err := Run(g, Options{NoOpt: off, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, s := range stats {
			for rule, n := range s.Rules {
				got[rule] += n
			}
		}
		for rule, n := range tt.want {
			if got[rule] != n {
				t.Errorf("without %q: %s %d times, want %d", tt.off, rule, got[rule], n)
			}
		}
		if tt.want == nil && (len(got) > 0 || after != g) {
			t.Errorf("without %q: %v", tt.off, got)
		}
	}
}

func TestUnknownNamesAreErrors(t *testing.T) {
	for _, name := range []string{"simplfy", "simplify/", "neg-neg", ""} {
		_, _, err := Run(parse(t, double), Options{NoOpt: []string{name}})
		if err == nil || !strings.Contains(err.Error(), "merge-products") {
			t.Errorf("%q: %v, want an error that lists the passes", name, err)
		}
	}
}

func TestRequiredPassesStayOn(t *testing.T) {
	table := []pass{{name: "needed", required: true, rules: algebraRules}, {name: "free", rules: bitRules}}
	if _, _, err := run(table, parse(t, double), Options{NoOpt: []string{"needed"}}); err == nil || !strings.Contains(err.Error(), "cannot be left out") {
		t.Errorf("a required pass left out: %v", err)
	}
	_, stats, err := run(table, parse(t, double), Options{NoOpt: []string{"all"}})
	if err != nil || len(stats) != 1 || stats[0].Step != "needed" {
		t.Errorf("all left out: %v, %v", stats, err)
	}
}

func TestTraceAndStats(t *testing.T) {
	var steps []string
	after, stats, err := Run(parse(t, double), Options{Trace: func(step, text string) {
		steps = append(steps, step)
		if _, err := ir.Parse(text); err != nil {
			t.Error(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"fold+simplify+sink+merge-reductions", "fma"}; !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
	if s := stats[0]; s.Before != 8 || s.After != 4 {
		t.Errorf("%d nodes became %d, want 8 and 4", s.Before, s.After)
	}
	if len(after.Nodes) != 3 {
		t.Errorf("%v", after)
	}
}

// A single rewrite can be singled out by rule and hash, and the hashes are the
// same in every run.
func TestBisect(t *testing.T) {
	type site struct {
		rule string
		hash uint64
	}
	var sites []site
	_, _, err := Run(parse(t, double), Options{Bisect: func(rule string, hash uint64) bool {
		sites = append(sites, site{rule, hash})
		return false
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(sites) < 3 {
		t.Fatalf("asked only for %v", sites)
	}
	for _, only := range sites {
		done := 0
		after, _, err := Run(parse(t, double), Options{Check: true, Bisect: func(rule string, hash uint64) bool {
			if rule == only.rule && hash == only.hash {
				done++
				return true
			}
			return false
		}})
		if err != nil {
			t.Fatal(err)
		}
		if done != 1 || after.String() == parse(t, double).String() {
			t.Errorf("%v alone was done %d times: %v", only, done, after)
		}
	}
}

func TestCheckRefusesWhatComesIn(t *testing.T) {
	g := parse(t, double)
	g.Nodes[2].Shape = ir.Static(5)
	if _, _, err := Run(g, Options{Check: true}); err == nil {
		t.Error("a graph with a wrong type passed")
	}
}

// Rules that undo each other end, and the checker tells.
func TestRulesThatUndoEachOther(t *testing.T) {
	grow := rule{"grow", []ir.Op{ir.Neg}, "never ends", func(r *rewriter, n *ir.Node) *ir.Node {
		return r.op(ir.Neg, r.op(ir.Abs, n.In[0]))
	}}
	table := []pass{{name: "endless", rules: []rule{grow}}}
	if _, _, err := run(table, parse(t, double), Options{}); err != nil {
		t.Errorf("unchecked: %v", err)
	}
	if _, _, err := run(table, parse(t, double), Options{Check: true}); err == nil || !strings.Contains(err.Error(), "undo") {
		t.Errorf("checked: %v", err)
	}
}
