package optim_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/optim"
)

// A step in f16 whose second gradient does not fit it: the parameter stays as it
// was, and the loss is scaled by half from then on.
func ExampleLossScale() {
	w := sinter.NewVariable("w", sinter.Ones(sinter.F32, sinter.Dims(16, 16)...))
	opt, err := optim.New(optim.Options{LossScale: &optim.LossScale{Initial: 256}}, optim.Group{Params: []*sinter.Variable{w}, Method: optim.SGD{}})
	if err != nil {
		log.Fatal(err)
	}
	x := sinter.Input("x", sinter.F32)
	y := sinter.Ones(sinter.F32, sinter.Dims(16, 16)...).Mul(x).MatMul(w.Tensor())
	updates, err := opt.Update(y.Mean(), sinter.Scalar(0.5))
	if err != nil {
		log.Fatal(err)
	}
	step, err := sinter.Compile(sinter.Capture(updates...), sinter.Options{Precision: sinter.F16})
	if err != nil {
		log.Fatal(err)
	}
	defer step.Close()
	ctx := context.Background()
	for _, x := range []float32{1, 10_000, 1} {
		if _, err := step.Run(ctx, map[string]sinter.Tensor{"x": sinter.Of([]float32{x}).Reshape()}); err != nil {
			log.Fatal(err)
		}
		weight, err1 := sinter.Values[float32](ctx, w.Tensor().Mean())
		factor, err2 := sinter.Values[float32](ctx, opt.LossScale().Tensor())
		fmt.Println(weight[0], factor[0], err1, err2)
	}
	// Output:
	// 0.96875 256 <nil> <nil>
	// 0.96875 128 <nil> <nil>
	// 0.9375 128 <nil> <nil>
}
