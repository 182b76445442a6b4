package suite

import (
	"context"
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// Group is cases that are one program, for devices whose compiler takes long
// for each: their graphs side by side, with no operand in common.
type Group struct {
	Members []*Case
	all     *Case
}

// Groups makes groups of cases with the same sizes, of so many kernels as a
// program may well have. A case that fails on purpose, or that alone says stays
// alone.
func Groups(cases []*Case, alone func(*Case) bool) ([]*Group, error) {
	var groups []*Group
	filling := map[string]*Group{}
	for _, c := range cases {
		if c.Fails != nil || alone(c) {
			groups = append(groups, &Group{Members: []*Case{c}})
			continue
		}
		key, err := c.likeness()
		if err != nil {
			return nil, err
		}
		g := filling[key]
		if g == nil || len(g.Members) == groupCases {
			g = &Group{}
			groups, filling[key] = append(groups, g), g
		}
		g.Members = append(g.Members, c)
	}
	return groups, nil
}

// groupCases are those of a group at most: more would save less than they
// hold in memory.
const groupCases = 32

// likeness is what the cases of a group have in common.
func (c *Case) likeness() (string, error) {
	g, _, err := c.Graph()
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.Name, err)
	}
	return fmt.Sprint(g.Symbols(), c.Sizes, c.Exact), nil
}

// Run runs all cases as one program. Of a failure, members that are run alone
// tell whose it is.
func (g *Group) Run(ctx context.Context, d Runner, o device.Options) error {
	if len(g.Members) == 1 { // which may be one that is to fail
		return g.Members[0].Run(ctx, d, o)
	}
	if g.all == nil {
		g.all = merged(g.Members)
	}
	return g.all.Run(ctx, d, o)
}

// merged is the cases as one.
func merged(cases []*Case) *Case {
	first, last := cases[0], cases[len(cases)-1]
	return &Case{Name: first.Name + " to " + last.Name, Sizes: first.Sizes, Exact: first.Exact, Build: func(b *Builder) []*ir.Node {
		var outs [][]*ir.Node
		for _, c := range cases {
			outs = append(outs, c.Build(b))
		}
		return slices.Concat(outs...)
	}}
}
