package embed

import "testing"

// Whoever was told to lead and leaves instead, its context being done at the
// same moment, passes the lead on: to the next who waits, or back.
func TestCoalesceLeaveLeading(t *testing.T) {
	c := &coalescer{leaders: 1}
	first, second := &request{turn: make(chan bool, 1)}, &request{turn: make(chan bool, 1)}
	c.waiting = []*request{first, second}
	first.lead()
	c.leave(first)
	if !second.leads || c.leaders != 1 {
		t.Errorf("the second leads: %v, of %d leaders", second.leads, c.leaders)
	}
	c.leave(second)
	if c.leaders != 0 || len(c.waiting) != 0 {
		t.Errorf("%d leaders and %d requests are left", c.leaders, len(c.waiting))
	}
}
