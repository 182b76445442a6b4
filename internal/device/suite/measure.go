package suite

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/int4"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
)

// Rule is a rule of arithmetic that a device keeps or not.
type Rule struct {
	ID   string // for lists
	Name string
	*Case
}

// Rules are the numeric rules that devices differ in. A device keeps one if its
// case passes.
func Rules() []Rule {
	var all []Rule
	add := func(id, name string, exact bool, build func(b *Builder) *ir.Node) {
		all = append(all, Rule{id, name, &Case{Name: name, Exact: exact, Build: func(b *Builder) []*ir.Node { return []*ir.Node{build(b)} }}})
	}
	const many = 4096
	input := func(b *Builder, fill Fill) *ir.Node { return b.Input(ir.F32, fill, ir.N(many)) }
	add("subnormals", "subnormals are kept", true, func(b *Builder) *ir.Node {
		return b.Add(ir.Mul, ir.Attr{}, input(b, Given(1e-40, -3e-39, 2e-38, 1.5e-38, 1e-45)), input(b, Given(1, 0.5, 0.25, 3)))
	})
	add("exact-division", "divisions are rounded correctly", true, func(b *Builder) *ir.Node {
		return b.Add(ir.Div, ir.Attr{}, input(b, Ordinary), input(b, Ordinary))
	})
	add("exact-roots", "roots are rounded correctly", true, func(b *Builder) *ir.Node {
		x := input(b, Ordinary)
		return b.Add(ir.Sqrt, ir.Attr{}, b.Add(ir.Mul, ir.Attr{}, x, x))
	})
	add("fma", "multiply-add rounds once", true, func(b *Builder) *ir.Node {
		return b.Add(ir.FMA, ir.Attr{}, input(b, Ordinary), input(b, Ordinary), input(b, Ordinary))
	})
	add("nan", "NaN is not dropped", false, func(b *Builder) *ir.Node {
		x, y := input(b, Given(math.NaN(), 1, math.Inf(1))), input(b, Given(2, math.NaN(), math.NaN(), 1))
		return b.Add(ir.Add, ir.Attr{}, b.Add(ir.Max, ir.Attr{}, x, y), b.Add(ir.Min, ir.Attr{}, x, y))
	})
	add("signed-zeros", "zeros have signs", true, func(b *Builder) *ir.Node {
		return b.Add(ir.Mul, ir.Attr{}, input(b, Given(0, math.Copysign(0, -1), -1)), input(b, Given(-1, 0, 2, math.Copysign(0, -1))))
	})
	return all
}

// Format is a number format that products compute in, by the names of users.
type Format struct {
	Name      string
	precision ir.DType
	packs     bool // weights, into 4 bits
}

// Formats are those that a device may have.
func Formats() []Format {
	return []Format{{Name: "f32", precision: ir.F32}, {Name: "bf16", precision: ir.BF16}, {Name: "f16", precision: ir.F16}, {Name: "int8", precision: ir.I8}, {Name: "int4", packs: true}}
}

// layer is a linear layer without its activation, as data and weights have it.
var layer = &Case{Name: "layer", Build: func(b *Builder) []*ir.Node {
	const n, width, out = 9, 64, 48
	w := b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, b.Leaf(ir.Weight, ir.F32, Ordinary, ir.N(out), ir.N(width)))
	return []*ir.Node{b.Add(ir.MatMul, ir.Attr{}, b.Input(ir.F32, Ordinary, ir.N(n), ir.N(width)), w)}
}}

// Try has a device compute a layer in a format, and compares with what the
// referee makes of the graph that the format asks for.
func (f Format) Try(ctx context.Context, d Runner) (err error) {
	graph, runs, err := layer.Prepare()
	if err != nil {
		return err
	}
	r := *runs[0]
	if f.packs {
		graph, r.Leaves, err = PackWeights(ctx, graph, r.Leaves, int4.Rows, rewrite.Options{})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	asked, _, err := rewrite.Run(graph, rewrite.Options{NoOpt: []string{"all"}, Precision: f.precision})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if r.Want, r.Bounds, err = interp.Evaluate(ctx, asked, r.Env, r.Leaves); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if _, ok := d.(*interp.Device); ok { // which leaves all passes out
		graph = asked
	}
	m, err := d.CompileGraph(ctx, graph, device.Options{Precision: f.precision})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	got, err := Execute(ctx, d, m, graph, &r)
	if err == nil {
		err = layer.Compare(got, &r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}
