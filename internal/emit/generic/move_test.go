package generic

import "testing"

// An index that is the lane times something of the lane has no stride.
func TestStrideOfItsOwn(t *testing.T) {
	const n = 300
	f := mustCompile(t, header+"for vector j < size(N) {\n\ts = cast.i64(i[j])\n\ty[j] = x[j*s]\n}")
	x, times, y := make([]float32, n), make([]byte, 4*n), make([]float32, n)
	for j := range n {
		x[j], times[4*j] = float32(j), byte(j%3%2) // the lowest of four bytes
	}
	if err := f.Run(&Args{Params: [][]byte{bytesOf(x), times, bytesOf(y)}, Sizes: []int64{n}, Status: make([]int64, 1)}); err != nil {
		t.Fatal(err)
	}
	for j := range n {
		if want := float32(j * (j % 3 % 2)); y[j] != want {
			t.Fatalf("element %d is %v, want %v", j, y[j], want)
		}
	}
}
