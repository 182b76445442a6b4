package cuda

import (
	"io"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// opened is the device of a driver that runs kernels, and a graph with a product
// that groups of warps may multiply: of n x 160 and 160 x 160.
func opened(t *testing.T, f *cutest.Fake) (*launch.Device, *ir.Graph) {
	t.Helper()
	f.Compute = true
	b := ir.NewBuilder(nil)
	var in [2]*ir.Node
	for i, name := range []string{"x", "y"} {
		shape := []ir.Shape{{ir.Sym("n", 0, 256), ir.N(160)}, ir.Static(160, 160)}[i]
		n, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: name, Type: ir.Type{DType: ir.BF16, Shape: shape}})
		if err != nil {
			t.Fatal(err)
		}
		in[i] = n
	}
	y, err := b.Add(ir.MatMul, ir.Attr{}, in[0], in[1])
	if err != nil {
		t.Fatal(err)
	}
	return openFake(t, f), b.Finish(y)
}

// TestGroups: on a GPU of capability 9.0 products by groups of warps get the
// shared memory that they need, more than every block has, in graphs of launches
// that are run again and changed. An older driver is not given them, nor is
// another GPU, nor who turns them off.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name  string
		fake  *cutest.Fake
		noOpt []string
		want  bool
		maps  bool
	}{
		{"9.0", &cutest.Fake{Capability: 90}, nil, true, true},
		{"an old driver", &cutest.Fake{Capability: 90, Version: 11080}, nil, false, false},
		{"no maps", &cutest.Fake{Capability: 90, NoMaps: true}, nil, true, false},
		{"10.0", &cutest.Fake{Capability: 100}, nil, false, false},
		{"turned off", &cutest.Fake{Capability: 90}, []string{"warpgroups"}, false, false},
		{"maps turned off", &cutest.Fake{Capability: 90}, []string{"tensor-maps"}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, g := opened(t, c.fake)
			m, err := d.CompileGraph(t.Context(), g, device.Options{NoOpt: c.noOpt})
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := m.(interface{ WriteListing(w io.Writer) error }).WriteListing(&text); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(text.String(), "wgmma.mma_async"); got != c.want {
				t.Errorf("by groups: %v", got)
			}
			if got := strings.Contains(text.String(), "cp.async.bulk.tensor"); got != c.maps {
				t.Errorf("by tensor maps: %v", got)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			runs := 2
			if !c.want && effort.Less() {
				runs = 1
			}
			for range runs {
				if err := suite.Trial(t.Context(), d, interp.New()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
