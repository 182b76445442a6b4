package grad

import "github.com/sinterml/sinter/internal/ir"

// HasRule tells whether gradients flow through op.
func HasRule(op ir.Op) bool { return rules[op].back != nil }
