package sinter_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sinterml/sinter"
)

// A linear regression: y = 3x - 1 is found from four points by following the
// gradient of the squared error. One program does a step; the variables keep
// their values between runs.
func Example_linearRegression() {
	x, y := sinter.Of([]float32{-1, 0, 1, 2}, 4), sinter.Of([]float32{-4, -1, 2, 5}, 4)
	w, b := sinter.NewVariable("w", sinter.Of([]float32{0})), sinter.NewVariable("b", sinter.Of([]float32{0}))
	loss := sinter.MSE(x.Mul(w.Tensor()).Add(b.Tensor()), y)
	g := sinter.Grad(loss, w.Tensor(), b.Tensor())
	rate := sinter.Scalar(0.1)
	step, err := sinter.Compile(sinter.Capture(
		w.Assign(w.Tensor().Sub(g[0].Mul(rate))),
		b.Assign(b.Tensor().Sub(g[1].Mul(rate)))), sinter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer step.Close()
	ctx := context.Background()
	for range 200 {
		if _, err := step.Run(ctx, nil); err != nil {
			log.Fatal(err)
		}
	}
	line, err := sinter.Values[float32](ctx, sinter.Stack(0, w.Tensor(), b.Tensor()))
	fmt.Printf("%.3f %v\n", line, err)
	// Output: [3.000 -1.000] <nil>
}
