// Package rewrite holds the passes over graphs: each makes a graph that
// computes the same by less work. Every pass and every rule has a name by which
// it can be switched off.
package rewrite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sinterml/sinter/internal/ir"
)

// Kind says what a pass may change.
type Kind uint8

const (
	Exact         Kind = iota // not one bit, NaN taken as one value
	Reassociating             // the last places of floats
	Rounding                  // the number format, which was asked for
)

func (k Kind) String() string {
	return [...]string{"exact", "reassociating", "rounding"}[k]
}

// pass is a row of the table: local rules, or a function over the whole graph.
type pass struct {
	name     string
	kind     Kind
	required bool // cannot be switched off
	// precision, if set, is the number format that must be asked for.
	precision ir.DType
	asked     func(o *Options) bool // if set, what else must be asked for
	doc       string
	rules     []rule
	run       func(s *setting, g *ir.Graph) (*ir.Graph, error)
}

// passes are run in this order. Neighbours made of rules run as one step, to a
// common fixed point, for each gives the others something to do.
var passes = []pass{
	{name: "fold", doc: "operations on constants become constants", rules: foldRules},
	{name: "simplify", doc: "algebra and movement that cost nothing or less", rules: slices.Concat(algebraRules, bitRules, castRules, movementRules, reduceRules)},
	{name: "sink", doc: "work before views: elements are computed once and then repeated or moved", rules: sinkRules},
	{name: "merge-reductions", kind: Reassociating, doc: "sums of sums become one, and sums of repeated rows are done once", rules: mergeReductionRules},
	{name: "merge-products", doc: "products of one matrix with several weights become one product", run: mergeProducts},
	{name: "turn-products", kind: Reassociating, doc: "products of few rows by a variable that changes and lies turned are computed turned, where the device packs it in each run",
		asked: func(o *Options) bool { return o.TurnProducts }, run: turnProducts},
	{name: "bf16", kind: Rounding, required: true, precision: ir.BF16, doc: "products, of gradients too, compute in bf16, where asked for", run: computeBF16},
	{name: "f16", kind: Rounding, required: true, precision: ir.F16, doc: "products, of gradients too, compute in f16, where asked for", run: computeF16},
	{name: "tf32", kind: Rounding, required: true, precision: ir.TF32, doc: "products, of gradients too, may round operands to TF32 where the device has units for that, where asked for", run: allowTF32},
	{name: "int8", kind: Rounding, required: true, precision: ir.I8, doc: "products of data with weights compute in 8-bit integers, those of attention in bf16, and GELU for the former by a shorter formula, where asked for", run: computeInt8},
	{name: "fma", kind: Reassociating, doc: "a*b + c is rounded once", run: fuseMultiplyAdd},
	{name: "order", doc: "kernels in an order that keeps values for a short time", run: shortenLives},
}

// order lists which pass must come before which, and why.
var order = []struct{ before, after, reason string }{
	{"fold", "fma", "fma may need a negated constant, which folding makes"},
	{"simplify", "fma", "the rules know add and mul; behind an fma they see neither"},
	{"sink", "merge-products", "views on the shared matrix and before the bias hide what products have in common"},
	{"merge-reductions", "fma", "a sum of products is not to be hidden behind another sum"},
	{"merge-products", "turn-products", "products of one matrix become one, which has more columns"},
	{"sink", "turn-products", "what is turned is a variable itself"},
	{"turn-products", "bf16", "behind it products read a cast of the variable"},
	{"turn-products", "f16", "behind it products read a cast of the variable"},
	{"merge-products", "bf16", "operands are compared before each has a rounding of its own"},
	{"merge-products", "f16", "operands are compared before each has a rounding of its own"},
	{"merge-products", "int8", "products of bytes have no bias; what is added comes behind the scales"},
	{"int8", "fma", "bias and scale become one operation"},
	{"merge-products", "fma", "the bias of a product is known by its add"},
	{"fma", "order", "a pass makes a graph anew, in the order of its operands"},
}

// Options choose among passes. The zero value runs all.
type Options struct {
	// NoOpt lists passes ("fma") and rules ("simplify/add-zero") to leave
	// out; "all" stands for every pass that is not required.
	NoOpt []string
	// Precision is what products compute in: BF16, F16, TF32, I8, or as written
	// where it is 0 or F32.
	Precision ir.DType
	// TurnProducts tells that the device packs what products multiply by in each run
	// where that changes, and turns it on the way.
	TurnProducts bool
	Check        bool // verify the graph before and after each step
	// Trace, if set, gets the graph after each step that changed it.
	Trace func(step, text string)
	// Observe, if set, is given each step with the graph that it made, whose
	// Origins are nodes of the graph before; it is that graph if nothing applied.
	Observe func(s Stat, g *ir.Graph)
	// Bisect, if set, is asked before each rewrite of a node, named by the
	// rule and a hash of the node's expression, whether to do it: halving the
	// set of hashes finds a wrong one.
	Bisect func(rule string, hash uint64) bool
}

// Stat tells what one step did.
type Stat struct {
	Step          string         // names of its passes, joined by +
	Before, After int            // nodes
	Rules         map[string]int // rewrites done, by pass/rule
	Time          time.Duration
	By            map[*ir.Node]string // where observed: the last rule that made a node
}

// Info describes a pass for documentation.
type Info struct {
	Name     string
	Kind     Kind
	Required bool
	Asked    bool // runs only where that is asked for
	Doc      string
	Rules    []RuleInfo
}

// RuleInfo describes a rule; Name is what NoOpt takes.
type RuleInfo struct{ Name, Reason string }

// Passes lists every pass in the order they run.
func Passes() []Info {
	var all []Info
	for _, p := range passes {
		i := Info{p.name, p.kind, p.required, p.precision != 0 || p.asked != nil, p.doc, nil}
		for _, r := range p.rules {
			i.Rules = append(i.Rules, RuleInfo{p.name + "/" + r.name, r.reason})
		}
		all = append(all, i)
	}
	return all
}

// Run puts g through the passes. The result is g itself if nothing applied.
func Run(g *ir.Graph, o Options) (*ir.Graph, []Stat, error) { return run(passes, g, o) }

func run(table []pass, g *ir.Graph, o Options) (*ir.Graph, []Stat, error) {
	off, err := switches(table, o.NoOpt)
	if err == nil {
		err = checkPrecision(o.Precision)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, p := range table {
		if p.precision != 0 && p.precision != o.Precision || p.asked != nil && !p.asked(&o) {
			off[p.name] = true
		}
	}
	if o.Check {
		if err := ir.Check(g); err != nil {
			return nil, nil, fmt.Errorf("rewrite: the graph handed in: %w", err)
		}
	}
	var stats []Stat
	s := newSetting(table, off, o)
	for len(table) > 0 {
		step := table[:stepLength(table)]
		table = table[len(step):]
		if step = slices.DeleteFunc(slices.Clone(step), func(p pass) bool { return off[p.name] }); len(step) == 0 {
			continue
		}
		if o.Observe != nil {
			g = g.Traced()
		}
		next, stat, err := runStep(s, step, g)
		if err == nil && o.Check && next != g {
			err = ir.Check(next)
		}
		if err != nil {
			return nil, stats, fmt.Errorf("rewrite: %s: %w", stat.Step, err)
		}
		if o.Trace != nil && next != g {
			o.Trace(stat.Step, next.String())
		}
		if o.Observe != nil {
			o.Observe(stat, next)
		}
		stats = append(stats, stat)
		g = next
	}
	return g, stats, nil
}

// stepLength is how many passes at the head of the table run together.
func stepLength(table []pass) int {
	n := 1
	for table[0].run == nil && n < len(table) && table[n].run == nil {
		n++
	}
	return n
}

func runStep(s *setting, step []pass, g *ir.Graph) (*ir.Graph, Stat, error) {
	names := make([]string, len(step))
	for i, p := range step {
		names[i] = p.name
	}
	stat := Stat{Step: strings.Join(names, "+"), Before: len(g.Nodes), Rules: map[string]int{}}
	start := time.Now()
	s.applied = stat.Rules
	if g.Origins != nil {
		stat.By = map[*ir.Node]string{}
		s.by = stat.By
	}
	f := step[0].run
	if f == nil {
		f = applyRules
	}
	next, err := f(s, g)
	if err != nil {
		return nil, stat, err
	}
	if len(stat.Rules) == 0 {
		next = g
	}
	stat.After, stat.Time = len(next.Nodes), time.Since(start)
	return next, stat, nil
}

// switches reads NoOpt into a set of names that are off.
func switches(table []pass, names []string) (map[string]bool, error) {
	off := map[string]bool{}
	if len(names) == 0 {
		return off, nil
	}
	known := map[string]bool{"all": true} // value: may be switched off
	for _, p := range table {
		known[p.name] = !p.required
		for _, r := range p.rules {
			known[p.name+"/"+r.name] = !p.required
		}
	}
	for _, n := range names {
		can, ok := known[n]
		switch {
		case !ok:
			return nil, fmt.Errorf("rewrite: there is no pass or rule %q; passes: %s; rules are named pass/rule", n, passNames(table))
		case !can:
			return nil, fmt.Errorf("rewrite: pass %q cannot be left out", n)
		case n == "all":
			for _, p := range table {
				off[p.name] = !p.required
			}
		}
		off[n] = true
	}
	return off, nil
}

func passNames(table []pass) string {
	names := []string{"all"}
	for _, p := range table {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// checkOrder verifies the order table against the pass table.
func checkOrder() error {
	at := map[string]int{}
	for i, p := range passes {
		if _, ok := at[p.name]; ok {
			return fmt.Errorf("pass %s comes twice", p.name)
		}
		at[p.name] = i
	}
	var errs []error
	for _, o := range order {
		a, ok1 := at[o.before]
		b, ok2 := at[o.after]
		if !ok1 || !ok2 || a >= b {
			errs = append(errs, fmt.Errorf("%s must come before %s: %s", o.before, o.after, o.reason))
		}
	}
	return errors.Join(errs...)
}
