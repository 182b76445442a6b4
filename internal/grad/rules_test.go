package grad

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// Every operation has a rule, or a reason to have none.
func TestRules(t *testing.T) {
	for _, op := range ir.Ops() {
		r, ok := rules[op]
		if !ok || (r.back == nil) == (r.why == "") && op != ir.Get {
			t.Errorf("%v: want a rule or a reason", op)
		}
	}
	if len(rules) != len(ir.Ops()) {
		t.Errorf("%d rules for %d operations", len(rules), len(ir.Ops()))
	}
}
