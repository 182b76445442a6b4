package clangtest

import (
	"context"
	"flag"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter/internal/accepted"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/ir"
)

var _ = flag.Bool("update", false, "keep which programs the compiler has accepted") // which package accepted reads

// TestConformance runs the short suite in both languages on the processor, and
// compiles its programs for AMD's GPUs and as Metal.
func TestConformance(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("compiling the suite takes a minute or two: set SINTER_CI, and leave out -short")
	}
	c := Find(t)
	a := accepted.For(t)
	version := c.version(t)
	t.Run("HIP", func(t *testing.T) {
		t.Parallel()
		programs := run(t, c, cstyle.HIP)
		for _, arch := range architectures {
			t.Run(arch, func(t *testing.T) {
				all(t, programs, func(text string) error {
					if a.Has(version, arch, text) {
						return nil
					}
					kernels, err := c.HIP(context.Background(), arch, text)
					report(t, kernels)
					if err == nil {
						a.Add(version, arch, text)
					}
					return err
				})
			})
		}
	})
	t.Run("Metal", func(t *testing.T) {
		t.Parallel()
		all(t, run(t, c, cstyle.Metal), func(text string) error {
			if a.Has(version, "metal", text) {
				return nil
			}
			err := c.Metal(context.Background(), text)
			if err == nil {
				a.Add(version, "metal", text)
			}
			return err
		})
	})
}

// architectures stand for the two families: for computing, and for graphics.
var architectures = []string{"gfx90a", "gfx1100"}

// run runs the suite and lists the texts of its programs.
func run(t *testing.T, c *Clang, s *cstyle.Style) []string {
	var seen []string
	b := &Backend{Clang: c, Style: s, Seen: func(text string) { seen = append(seen, text) }}
	d, err := launch.New(b, launch.Options{Kind: s.Name, Shape: GPU, Units: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	lacking := func(c *suite.Case) string {
		g, _, err := c.Graph()
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		return lacks(s, g)
	}
	groups, err := suite.Groups(suite.Short(), func(c *suite.Case) bool { return lacking(c) != "" })
	if err != nil {
		t.Fatal(err)
	}
	ctx, options := context.Background(), device.Options{Check: true}
	for _, g := range groups {
		err := g.Run(ctx, d, options)
		if lack := lacking(g.Members[0]); lack != "" {
			if err == nil || !strings.Contains(err.Error(), lack) {
				t.Errorf("%s: %v, want that it %s", g.Members[0].Name, err, lack)
			}
			continue
		}
		if err == nil {
			continue
		}
		t.Errorf("%d cases as one program, from %s on: %v", len(g.Members), g.Members[0].Name, err)
		for _, c := range g.Members {
			if err := c.Run(ctx, d, options); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
	return seen
}

// lacks is what the error says where the language has no type for a value that is
// computed: what is only moved is moved as an integer.
func lacks(s *cstyle.Style, g *ir.Graph) string {
	for _, n := range g.Nodes {
		if s.Types[n.DType] == "" && !moves(n.Op) {
			return s.Name + " has no " + n.DType.String()
		}
	}
	return ""
}

func moves(op ir.Op) bool {
	switch op.Class() {
	case ir.ClassMovement:
		return true
	case ir.ClassLeaf:
		return op != ir.Iota
	}
	return op == ir.Contiguous || op == ir.Gather
}

// all checks programs, two at a time.
func all(t *testing.T, programs []string, check func(text string) error) {
	var done sync.WaitGroup
	slots := make(chan bool, 2)
	for _, text := range programs {
		slots <- true
		done.Go(func() {
			if err := check(text); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			<-slots
		})
	}
	done.Wait()
}

// report says what kernels take of a GPU. In products and attention no value may
// lie in memory for want of a register.
func report(t *testing.T, kernels []Usage) {
	for _, k := range kernels {
		template := strings.Contains(k.Kernel, "matmul") || strings.Contains(k.Kernel, "product") || strings.Contains(k.Kernel, "attention")
		if template || k.Spills > 0 {
			t.Logf("%s: %d registers, %d spilled, %d bytes of a work-item, %d of a group, %d scalars spilled", k.Kernel, k.Registers, k.Spills, k.Private, k.Shared, k.ScalarSpills)
		}
		if template && k.Spills > 0 {
			t.Errorf("%s: %d registers are spilled", k.Kernel, k.Spills)
		}
	}
}
