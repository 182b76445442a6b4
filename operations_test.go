package sinter_test

import (
	"testing"

	"github.com/sinterml/sinter"
)

func TestOperationsByHand(t *testing.T) {
	ones := func(sizes ...int) sinter.Tensor { return sinter.Of(make([]float32, product(sizes)), sizes...) }
	n := sinter.Sym("n", 1, 9)
	x := sinter.Input("x", sinter.F32, n, sinter.N(5))
	attention := func(o sinter.AttentionOptions) sinter.Tensor {
		y, _ := sinter.Attention(ones(2, 4, 6, 8), ones(2, 2, 7, 8), ones(2, 2, 7, 8), o)
		return y
	}
	for _, c := range []struct {
		what string
		x    sinter.Tensor
		want string
	}{
		{"product", ones(3, 5).MatMul(ones(5, 7)), "210"},
		{"batched product", ones(2, 3, 5).MatMul(ones(2, 5, 7)), "420"},
		{"by element", ones(3, 5).Add(ones(5)).Exp(), "30"},
		{"movement", ones(3, 5).T().Reshape(15), "0"},
		{"sum", ones(3, 5).Sum(), "15"},
		{"convolution", sinter.Conv(ones(2, 4, 8), ones(6, 2, 3), sinter.ConvOptions{Groups: 2}), "864"}, // 2*6*6 results of 2*3 terms
		{"attention", attention(sinter.AttentionOptions{}), "10752"},                                     // 2*4*6*7 scores, 8 wide, and as many for the values
		{"symbols", x.MatMul(ones(5, 7)).Neg(), "77*n"},
		{"twice the same", ones(2).Exp().Add(ones(2)), "4"},
	} {
		if err := c.x.Err(); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if got := sinter.Capture(c.x).Operations().String(); got != c.want {
			t.Errorf("%s: %s operations, want %s", c.what, got, c.want)
		}
	}
}

func product(sizes []int) int {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	return n
}
