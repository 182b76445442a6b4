package rewrite

import "github.com/sinterml/sinter/internal/ir"

// shortenLives changes the order of nodes alone. What has one result is in a
// good order as it is: of each step the operands are computed before it.
func shortenLives(s *setting, g *ir.Graph) (*ir.Graph, error) {
	if len(g.Outputs) == 1 {
		return g, nil
	}
	next, err := ir.Reorder(g)
	if err != nil {
		return nil, err
	}
	for i, n := range next.Nodes {
		if n.Op != g.Nodes[i].Op || !n.Type.Equal(g.Nodes[i].Type) {
			s.applied["order"]++
		}
	}
	return next, nil
}
