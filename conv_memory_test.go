package sinter_test

import (
	"context"
	"testing"

	"github.com/sinterml/sinter"
)

// TestConvMemory has a convolution whose windows, laid side by side, would take
// nine times the image: a product reads them where they lie.
func TestConvMemory(t *testing.T) {
	const images, channels, side = 16, 32, 40
	const windows = 9 * 4 * images * channels * side * side // bytes
	d := openCPU(t, sinter.CPUOptions{})
	ctx := sinter.WithDevice(context.Background(), d)
	x := sinter.Ones(sinter.F32, sinter.Dims(images, channels, side, side)...)
	w := sinter.Ones(sinter.F32, sinter.Dims(channels, channels, 3, 3)...)
	y, err := sinter.Values[float32](ctx, sinter.Conv(x, w, sinter.ConvOptions{Padding: []int{1, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	if y[0] != 4*channels || y[side+1] != 9*channels {
		t.Errorf("%v in a corner, %v within", y[0], y[side+1])
	}
	peak := d.Stats().Peak
	t.Logf("%d bytes at most", peak)
	if peak > windows/2 {
		t.Errorf("%d bytes at most, where the windows have %d", peak, windows)
	}
}
