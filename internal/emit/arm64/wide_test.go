package arm64

import (
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/emit/native/nativetest"
	"github.com/sinterml/sinter/internal/loop"
)

// Lanes of 8 bytes agree with the interpreter at all bounds.
func TestWide(t *testing.T) {
	needNEON(t)
	if err := nativetest.CheckWide(emit); err != nil {
		t.Error(err)
	}
}

// What works on lanes of 8 bytes is not left to single lanes, nor are the written-out
// functions of f64.
func TestWideInLanes(t *testing.T) {
	for _, text := range []string{
		"where(x[i] < f64(1), sqrt(x[i]), fma(x[i], x[i], f64(2)))", "cast.f64(cast.u32(x[i]))", "cast.f64(cast.i64(x[i]))",
		"bitcast.f64(shr(bitcast.i64(x[i]), 3))", "exp(x[i])", "log(x[i])", "sin(x[i])", "erf(x[i])", "pow(x[i], f64(3))", "tanh(x[i])",
	} {
		k, err := nativetest.Parse(fmt.Sprintf(`kernel "lanes"
symbol N 0 1000
param x f64[N] read
param y f64[N] write
for vector i < size(N) {
	y[i] = %s
}
`, text))
		if err != nil {
			t.Fatal(err)
		}
		e := newEmitter(loop.Expand(k), map[*loop.Loop]bool{})
		if e.kernel(); e.Err != nil || e.GiveUp != nil {
			t.Errorf("%s has no code in lanes: %v", text, e.Err)
			continue
		}
		code, err := e.finish()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes of code, %d of spill area", text, len(code.Text), code.SpillBytes)
	}
}
