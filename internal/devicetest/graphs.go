package devicetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// RandomGraphs compares n random graphs with the referee, those of a part of them,
// with all passes on and all off: whole numbers bit for bit, others within the
// referee's bounds.
func RandomGraphs(t *testing.T, d suite.Runner, n uint64, part Part) {
	t.Helper()
	compared, all := 0, 0
	for seed := range n {
		if !part.has(int(seed)) {
			continue
		}
		all++
		c := irtest.Config{Integers: seed%2 == 0, Smooth: true, Symbolic: seed%3 == 0, MaxElements: 600, MaxNodes: 3 + int(seed/2%16)}
		if seed%5 == 4 {
			c.Special = 0.1
		}
		if seed%10 == 3 { // rows long enough to be shared out among the threads of a group
			c.MaxElements, c.MaxNodes = 8000, 6
		}
		g, leaves, env := irtest.Random(rand.New(rand.NewPCG(seed, 17)), c)
		want, bounds, err := interp.Evaluate(t.Context(), g, env, leaves)
		if err != nil {
			continue // an index out of range, or a division by zero
		}
		r := &suite.Sample{Env: env, Leaves: leaves, Want: want, Bounds: bounds}
		for _, off := range [][]string{nil, {"all"}} {
			m, err := d.CompileGraph(t.Context(), g, device.Options{NoOpt: off, Check: true})
			if err != nil {
				t.Fatalf("graph %d, off %v: %v\n%v", seed, off, err, g)
			}
			got, err := suite.Execute(context.Background(), d, m, g, r)
			if err == nil {
				err = suite.Compare(g, got, r, false)
			}
			if err = errors.Join(err, m.Close()); err != nil {
				t.Errorf("graph %d, off %v: %v\n%v", seed, off, err, g)
			}
		}
		compared++
	}
	t.Logf("%d graphs", compared)
	if 2*compared < all {
		t.Errorf("%d of %d graphs were compared: the others have no results", compared, all)
	}
}
