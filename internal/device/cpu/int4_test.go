package cpu

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/int4"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
)

// TestPackedWeights compares layers of many sizes, weights in 4 bits, with the
// referee's results of the same graph, on every instruction set and for any number
// of threads, whose bits are the same; each row gives the same alone.
func TestPackedWeights(t *testing.T) {
	ctx := context.Background()
	cases := append([]precisionCase{}, precisionCases...)
	for seed := range 10 {
		cases = append(cases, precisionCase{m: seed * 7 % 67, k: 16 + 2*(seed*29%300), n: 16 + seed*5%50, bytes: seed%2 == 0, views: seed%3 == 0, side: 8 + seed*3%20})
	}
	cases = append(cases, precisionCase{m: 9, k: 1300, n: 200, side: 77})
	for i, c := range cases {
		g := c.graph(t)
		draw := c.data
		if i%3 > 0 {
			draw = c.shortData
		}
		data, env := draw(g, c.m), ir.Env{"M": c.m}
		o := rewrite.Options{Check: true}
		if i%2 == 0 {
			o.NoOpt = []string{"all"}
		}
		small, values, err := suite.PackWeights(ctx, g, data, int4.Order(i%4 > 0), o)
		if err != nil {
			t.Fatal(err)
		}
		want, bounds, err := interp.Evaluate(ctx, small, env, values)
		if err != nil {
			t.Fatal(err)
		}
		for _, isa := range []ISA{AMXFP16, AMX, AVX512, AVX2, NEON, Generic} {
			var first [][]byte
			for _, threads := range []int{1, 3} {
				d, err := New(Options{ISA: isa, Threads: threads})
				if err != nil {
					break // another processor's
				}
				if few(d, i) {
					_ = d.Close()
					break
				}
				name := fmt.Sprintf("%v, %v, %d threads", c, isa, threads)
				got, err := evaluate(d, small, env, values, device.Options{Check: true})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for i, n := range small.Outputs {
					if err := compare(n.DType, got[i], want[i], bounds[i]); err != nil {
						t.Errorf("%s: output %d: %v", name, i, err)
					}
				}
				if first == nil {
					first = got
				}
				for i := range got {
					if !bytes.Equal(got[i], first[i]) {
						t.Errorf("%s: output %d differs from that of one thread", name, i)
					}
				}
				for m := 1; m < c.m; m += 1 + c.m/3 {
					some := byName(g, small, draw(g, m))
					for i := range some {
						if some[i] == nil {
							some[i] = values[i]
						}
					}
					few, err := evaluate(d, small, ir.Env{"M": m}, some, device.Options{})
					if err != nil {
						t.Fatal(err)
					}
					for i := range few {
						if !bytes.HasPrefix(got[i], few[i]) {
							t.Errorf("%s: output %d of %d rows differs from that of all", name, i, m)
						}
					}
				}
				_ = d.Close()
			}
		}
	}
}

// shortData is data whose inputs bf16 holds, so that the referee's bounds leave
// nothing but the order of sums.
func (c precisionCase) shortData(g *ir.Graph, m int) [][]byte {
	all := c.data(g, m)
	for i, l := range g.Leaves {
		for at := 0; l.Kind == ir.Input && at < len(all[i]); at += 4 {
			all[i][at], all[i][at+1] = 0, 0
		}
	}
	return all
}

// TestPackedWeightsStay runs layers whose weights are f32, bytes and 4 bits, and
// looks at what the device has afterwards: weights of 4 bits are multiplied
// without ever being there in more.
func TestPackedWeightsStay(t *testing.T) {
	ctx := context.Background()
	c := precisionCase{m: 5, k: 2048, n: 1024, side: 16}
	g := c.graph(t)
	data, env := c.data(g, c.m), ir.Env{"M": c.m}
	small, values, err := suite.PackWeights(ctx, g, data, int4.Panels, rewrite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept := func(name string, g *ir.Graph, values [][]byte, p ir.DType) int64 {
		d, err := New(Options{}) // its own: what another program kept is given up at any time
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		m, err := d.CompileGraph(ctx, g, device.Options{Precision: p})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		before := d.Stats()
		b := &device.Bound{Module: m, Env: env}
		for _, v := range values {
			buf, err := d.Import(v)
			if err != nil {
				t.Fatal(err)
			}
			defer buf.Close()
			b.Leaves = append(b.Leaves, buf)
		}
		for _, o := range g.Outputs {
			n, err := o.Shape.Numel().Eval(env)
			if err != nil {
				t.Fatal(err)
			}
			buf, err := d.Alloc(4 * n)
			if err != nil {
				t.Fatal(err)
			}
			defer buf.Close()
			b.Outputs = append(b.Outputs, buf)
		}
		e, err := d.Submit(ctx, b)
		if err == nil {
			err = e.Wait(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		after := d.Stats()
		t.Logf("%s: %d bytes kept with weights of %d", name, after.Allocated-before.Allocated, c.k*c.n)
		return after.Allocated - before.Allocated
	}
	weights := int64(c.k * c.n)
	f32, i8, i4 := kept("f32", g, data, 0), kept("int8", g, data, ir.I8), kept("int4", small, values, 0)
	if f32 < 4*weights || i8 < weights || i4 > weights/16 {
		t.Errorf("%d bytes kept of f32, %d of int8, %d of int4", f32, i8, i4)
	}
	for i, l := range small.Leaves {
		if n := int64(len(values[i])); l.Kind == ir.Weight && n > weights*5/8 {
			t.Errorf("%d bytes of %s", n, l.Name)
		}
	}
}
