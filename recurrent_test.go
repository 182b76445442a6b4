package sinter

import "testing"

// A step of an LSTM is two kernels, the product and the cell, and backwards as many,
// so that devices that take long to begin one are not kept waiting.
func TestKernelsOfLSTMSteps(t *testing.T) {
	d := open(t, "cpu")
	kernels := func(steps int) int {
		x, w, h := Input("x", F32, N(steps), N(16), N(64)), Input("w", F32, N(512), N(64)), Input("h", F32, N(512), N(128))
		y, _, _ := LSTM(x, w, h, LSTMOptions{})
		p := compileOn(t, d, append(Grad(y.Square().Sum(), x, w, h), y)...)
		return p.Info().Kernels
	}
	const more = 10
	few := kernels(6)
	if n := kernels(6 + more); n-few > 4*more {
		t.Errorf("%d kernels in 6 steps, %d in %d", few, n, 6+more)
	} else {
		t.Logf("%d kernels in 6 steps, %d in %d", few, n, 6+more)
	}
}
