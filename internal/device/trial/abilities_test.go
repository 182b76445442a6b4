package trial

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/diskcache"
	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/internal/ir"
)

// lacking is the referee, which refuses one format and multiply-adds, and
// computes another format wrong.
type lacking struct {
	spoiled
	last ir.DType
}

func (d *lacking) CompileGraph(ctx context.Context, g *ir.Graph, o device.Options) (device.Module, error) {
	if o.Precision == ir.F16 {
		return nil, errors.New("no f16")
	}
	if slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return n.Op == ir.FMA }) {
		return nil, errors.New("no multiply-add")
	}
	d.last = o.Precision
	return d.spoiled.CompileGraph(ctx, g, o)
}

func TestAbilities(t *testing.T) {
	d := &lacking{}
	d.Device = interp.New()
	d.spoil = func(outputs []device.Buffer) {
		if d.last == ir.I8 {
			outputs[0].Bytes()[2] ^= 0x40
		}
	}
	dir := t.TempDir()
	memory := func() *Memory { return &Memory{Disk: &diskcache.Cache{Dir: dir, Limit: 1 << 20}} }
	p := device.Properties{UUID: "u", Driver: "1"}
	if known, ok := memory().Abilities("x", p); ok {
		t.Errorf("%v before it was asked", known)
	}
	want := Abilities{Formats: []string{"f32", "bf16", "int4"}, Rules: []string{"subnormals", "exact-division", "exact-roots", "nan", "signed-zeros"}}
	if got, err := memory().Try(t.Context(), "x", p, d); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if known, ok := memory().Abilities("x", p); !ok || !reflect.DeepEqual(known, want) {
		t.Errorf("%v is remembered", known)
	}
	if known, ok := memory().Abilities("x", device.Properties{UUID: "u", Driver: "2"}); ok {
		t.Errorf("%v of another driver", known)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.UUID = "v"
	got, err := memory().Try(ctx, "x", p, d)
	if _, kept := memory().Abilities("x", p); !errors.Is(err, context.Canceled) || kept {
		t.Errorf("broken off: %v, %v, kept %v", got, err, kept)
	}
}

// The processor keeps the rules that it is listed with, and computes in the
// formats, whatever its machine code is.
func TestAbilitiesOfTheProcessor(t *testing.T) {
	for _, isa := range []cpu.ISA{cpu.Best, cpu.Generic} {
		d, err := cpu.New(cpu.Options{ISA: isa})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		got, err := (&Memory{}).Try(t.Context(), "cpu", device.Properties{}, d)
		if want := cpu.Describe(); err != nil || !slices.Equal(got.Rules, want.Rules) || !slices.Equal(got.Formats, want.DTypes) {
			t.Errorf("%v: %+v, %v; listed are %v and %v", isa, got, err, want.DTypes, want.Rules)
		}
	}
}
