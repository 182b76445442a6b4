package main

import (
	"context"
	"fmt"
	"math"

	"github.com/sinterml/sinter"
)

// verify has d compute a product, a row kernel and a transcendental function,
// and compares with the same in float64.
func verify(ctx context.Context, d *sinter.Device) error {
	const rows, inner, columns = 5, 19, 35 // no multiple of any vector
	a, b := make([]float32, rows*inner), make([]float32, inner*columns)
	for i := range a {
		a[i] = float32(i%7-3) / 4
	}
	for i := range b {
		b[i] = float32(i%11-5) / 8
	}
	y := sinter.Of(a, rows, inner).MatMul(sinter.Of(b, inner, columns)).Softmax(-1)
	got, err := sinter.Values[float32](sinter.WithDevice(ctx, d), y)
	if err != nil {
		return err
	}
	for r := range rows {
		want, sum := make([]float64, columns), 0.0
		for c := range want {
			for k := range inner {
				want[c] += float64(a[r*inner+k]) * float64(b[k*columns+c])
			}
			want[c] = math.Exp(want[c])
			sum += want[c]
		}
		for c := range want {
			if g, w := float64(got[r*columns+c]), want[c]/sum; !(math.Abs(g-w) <= 1e-5*w) {
				return fmt.Errorf("it computes %v where %v is right", g, w)
			}
		}
	}
	return nil
}
