package devicetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/internal/ir"
)

// picky is a referee that does not compile all graphs.
type picky struct {
	*interp.Device
	refuses func(*ir.Graph) bool
	graphs  int
}

func (d *picky) CompileGraph(ctx context.Context, g *ir.Graph, o device.Options) (device.Module, error) {
	d.graphs++
	if d.refuses(g) {
		return nil, errors.New("refused")
	}
	return d.Device.CompileGraph(ctx, g, o)
}

// What fails in a group is found, and what fails in a group alone is not lost.
func TestGroupsTellWhoFails(t *testing.T) {
	has := func(op ir.Op) func(g *ir.Graph) bool {
		return func(g *ir.Graph) bool {
			return slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return n.Op == op })
		}
	}
	for _, c := range []struct {
		name    string
		refuses func(*ir.Graph) bool
		fail    []string
		graphs  int
		group   bool // an error of the group
	}{
		{"nothing", func(*ir.Graph) bool { return false }, nil, 1, false},
		{"one", has(ir.Sub), []string{"sub f32"}, 4, false},
		{"several at once", func(g *ir.Graph) bool { return has(ir.Sub)(g) && has(ir.Add)(g) }, nil, 4, true},
	} {
		var members []*suite.Case
		for _, name := range []string{"add f32", "sub f32", "mul f32"} {
			p, err := caseNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			members = append(members, p.Case)
		}
		groups, err := suite.Groups(members, func(*suite.Case) bool { return false })
		if err != nil || len(groups) != 1 {
			t.Fatalf("%d groups, %v", len(groups), err)
		}
		d := &picky{Device: interp.New(), refuses: c.refuses}
		var failed []string
		err = (&subject{two: d}).group(groups[0], func(name string, f func() error) {
			if f() != nil {
				failed = append(failed, name)
			}
		})
		if !slices.Equal(failed, c.fail) || d.graphs != c.graphs || (err != nil) != c.group {
			t.Errorf("%s: %q failed of %d programs, %v", c.name, failed, d.graphs, err)
		}
	}
}

// Cases that differ in sizes, in how exact they are, or in symbols, that have to
// fail or should be alone are in no group of others.
func TestGroupsAreAlike(t *testing.T) {
	seen := map[*suite.Case]bool{}
	groups, err := suite.Groups(suite.Cases(), func(c *suite.Case) bool { return c.Name == "softmax" })
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		for _, c := range g.Members {
			if seen[c] {
				t.Errorf("%q is in two groups", c.Name)
			}
			seen[c] = true
			if len(g.Members) > 1 && (c.Fails != nil || c.Exact != g.Members[0].Exact || c.Name == "softmax") {
				t.Errorf("%q is in a group", c.Name)
			}
		}
	}
	if all := len(suite.Cases()); len(seen) != all || len(groups) > all/3 {
		t.Errorf("%d of %d cases in %d groups", len(seen), all, len(groups))
	}
}
