package loop_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

func TestSplitRangesText(t *testing.T) {
	const head = `kernel "k"
symbol n 0 64
symbol m 0 64
param p0 f32[64] read
param p1 f32[66] write
for global r < 8 {
`
	for _, c := range []struct{ name, body, want string }{
		{"a padded row", `	for vector i < 66 {
		p1[i] = where(and(-1 < i + -1, i + -1 < 64), p0[i + -1 ? and(-1 < i + -1, i + -1 < 64)], f32(1))
	}
`, `	for vector i < 1 {
		p1[i] = f32(1)
	}
	for vector i_2 = 1 to 65 {
		p1[i_2] = p0[i_2 + -1]
	}
	for vector i_3 = 65 to 66 {
		p1[i_3] = f32(1)
	}
`},
		{"a load that is 0 outside", `	for vector i < 66 {
		p1[i] = p0[i ? i < 64] + f32(1)
	}
`, `	for vector i < 64 {
		p1[i] = p0[i] + f32(1)
	}
	for vector i_2 = 64 to 66 {
		p1[i_2] = f32(0) + f32(1)
	}
`},
		{"stores of some, and locals", `	for vector i < 66 {
		x = p0[mod(i, 64)]
		p1[i ? or(i < 3, 60 < i)] = x
	}
`, `	for vector i < 3 {
		x = p0[mod(i, 64)]
		p1[i] = x
	}
	for vector i_2 = 3 to 61 {
		x_2 = p0[mod(i_2, 64)]
	}
	for vector i_3 = 61 to 66 {
		x_3 = p0[mod(i_3, 64)]
		p1[i_3] = x_3
	}
`},
		{"strides", `	for vector i < 32 {
		p1[i] = where(i*2 < 31, where(i*-3 < -20, f32(1), f32(2)), f32(3))
	}
`, `	for vector i < 7 {
		p1[i] = f32(2)
	}
	for vector i_2 = 7 to 16 {
		p1[i_2] = f32(1)
	}
	for vector i_3 = 16 to 32 {
		p1[i_3] = f32(3)
	}
`},
		{"up to a place of the row", `	for vector i = r to 64 {
		p1[i] = where(r + 4 < i, p0[i], f32(0))
	}
`, `	for vector i = r to min(r + 5, 64) {
		p1[i] = f32(0)
	}
	for vector i_2 = max(r + 5, r) to 64 {
		p1[i_2] = p0[i_2]
	}
`},
		{"ends that a run knows", `	for vector i = size(n) to size(m) {
		p1[i] = where(i < 9, p0[i], f32(0))
	}
`, `	for vector i = size(n) to min(9, size(m)) {
		p1[i] = p0[i]
	}
	for vector i_2 = max(9, size(n)) to size(m) {
		p1[i_2] = f32(0)
	}
`},
		{"always and never", `	for vector i < 8 {
		p1[i] = where(i < 8, where(7 < i, f32(1), f32(2)), f32(3))
	}
`, `	for vector i < 8 {
		p1[i] = f32(2)
	}
`},
		{"rows that are joined", `	for vector i < 64 {
		p1[i] = where(r < 4, p0[i ? r < 4], p0[i + 1 ? and(3 < r, r < 8)])
	}
`, `	for serial once < min(max(4 - r, 0), 1) {
		for vector i < 64 {
			p1[i] = p0[i]
		}
	}
	for serial once_2 < min(max(min(r + -3, 8 - r), 0), 1) {
		for vector i_2 < 64 {
			p1[i_2] = p0[i_2 + 1]
		}
	}
`},
		{"values of rows, in loops that may not run", `	for vector i < 64 {
		p1[i] = where(r < 4, p0[cast.i64(p0[r ? r < 4]) ? r < 4], p0[i + 1])
	}
`, `	for serial once < min(max(4 - r, 0), 1) {
		for vector i < 64 {
			%0 = r < 4
			p1[i] = p0[cast.i64(p0[r ? %0]) ? %0]
		}
	}
	for serial once_2 < min(max(r + -3, 0), 1) {
		for vector i_2 < 64 {
			p1[i_2] = p0[i_2 + 1]
		}
	}
`},
		{"a value of a row, in a part that runs", `	for vector i < 64 {
		p1[i] = where(i < 9, p0[r ? i < 9], f32(0))
	}
`, `	for vector i < 9 {
		p1[i] = p0[r]
	}
`},
		{"a value of a row, in a part that may be empty", `	for vector i < 64 {
		p1[i] = where(i < size(n), p0[r ? i < size(n)], f32(0))
	}
`, `	for vector i < min(size(n), 64) {
		p1[i] = p0[r ? i < size(n)]
	}
`},
		{"a row of a padded image", `	for vector i < 34 {
		p1[i] = where(and(and(-1 < r + -1, r + -1 < 6), and(0 < i, i < 33)), p0[i + -1 ? and(and(-1 < r + -1, r + -1 < 6), and(0 < i, i < 33))], f32(0))
	}
`, `	for serial once < min(max(1 - r, 0), 1) {
		for vector i < 34 {
			p1[i] = f32(0)
		}
	}
	for serial once_2 < min(max(min(r, 7 - r), 0), 1) {
		for vector i_2 < 1 {
			p1[i_2] = f32(0)
		}
		for vector i_3 = 1 to 33 {
			p1[i_3] = p0[i_3 + -1]
		}
		for vector i_4 = 33 to 34 {
			p1[i_4] = f32(0)
		}
	}
	for serial once_3 < min(max(r + -6, 0), 1) {
		for vector i_5 < 34 {
			p1[i_5] = f32(0)
		}
	}
`},
		{"places whose order is not known", `	for vector i < 64 {
		p1[i] = where(i < size(n), where(i < size(m), f32(1), f32(2)), f32(3))
	}
`, ""},
		{"what is loaded decides", `	for vector i < 64 {
		p1[i] = where(i < cast.i64(p0[0]), f32(1), f32(2))
	}
`, ""},
		{"no comparison of places", `	for vector i < 64 {
		p1[i] = where(p0[i] < f32(3), f32(1), f32(2))
	}
`, ""},
		{"a loop inside", `	for vector i < 64 {
		for serial j < 2 {
			p1[i] = where(i < 9, p0[i], f32(0))
		}
	}
`, ""},
		{"a serial loop", `	for serial i < 64 {
		p1[i] = where(i < 9, p0[i], f32(0))
	}
`, ""},
		{"a sum", `	s = f32(0)
	for vector i < 64 {
		s add= where(i < 9, p0[i], f32(0))
	}
	for vector j < 64 {
		p1[j] = where(j < 9, s, f32(0))
	}
`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := loop.Parse(head + c.body + "}\n")
			if err != nil {
				t.Fatal(err)
			}
			split := loop.SplitRanges(k)
			if err := loop.Check(split); err != nil {
				t.Error(err)
			}
			if got := split.String(); c.want == "" && split != k {
				t.Errorf("became\n%s", got)
			} else if !strings.Contains(got, c.want) {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestSplitRanges has random kernels do the same in parts.
func TestSplitRanges(t *testing.T) { testRandomKernels(t, loop.SplitRanges) }

// testRandomKernels has what a pass makes of random kernels do what these do.
func testRandomKernels(t *testing.T, pass func(*loop.Kernel) *loop.Kernel) {
	t.Helper()
	changed := 0
	const kernels = 3000
	for seed := range uint64(kernels) {
		c := looptest.Random(rand.New(rand.NewPCG(seed, 5)), looptest.Config{})
		k := pass(c.Kernel)
		if k == c.Kernel {
			continue
		}
		changed++
		if err := loop.Check(k); err != nil {
			t.Fatalf("seed %d: %v\n%v\nof\n%v", seed, err, k, c.Kernel)
		}
		want, got := c.Copy(), c.Copy()
		if err := loop.Interpret(c.Kernel, want); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := loop.Interpret(k, got); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, k)
		}
		if err := c.Same(got, want); err != nil {
			t.Fatalf("seed %d: %v\n%v\nof\n%v", seed, err, k, c.Kernel)
		}
	}
	if changed == 0 {
		t.Error("no kernel was changed")
	}
	t.Logf("%d of %d kernels were changed", changed, kernels)
}
