package loop_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/loop"
)

func TestSplitRemaindersText(t *testing.T) {
	const head = `kernel "k"
symbol n 0 64
param p0 f32[512] read
param p1 f32[512] write
`
	for _, c := range []struct{ name, body, want string }{
		{"zeros between", `for global r < 2 {
	for vector i < 63 {
		p1[r*63 + i] = where(mod(i, 2) < 1, p0[r*32 + idiv(i, 2) ? mod(i, 2) < 1], f32(7))
	}
}
`, `	for vector i < 32 {
		p1[r*63 + i*2] = p0[r*32 + i]
	}
	for vector i_2 < 31 {
		p1[r*63 + (i_2*2 + 1)] = f32(7)
	}
`},
		{"a stride of three, from the left of it", `for vector i < 16 {
	p1[i] = where(mod(i + -2, 3) < 1, p0[idiv(i + -2, 3) + 1 ? mod(i + -2, 3) < 1], f32(0))
}
`, `for vector i < 6 {
	p1[i*3] = f32(0)
}
for vector i_2 < 5 {
	p1[i_2*3 + 1] = f32(0)
}
for vector i_3 < 5 {
	p1[i_3*3 + 2] = p0[i_3 + 1]
}
`},
		{"two axes", `for global r < 1 {
	for serial s < 8 {
		for vector i < 8 {
			x = p0[idiv(s, 2)*8 + idiv(i, 2) ? and(mod(s, 2) < 1, mod(i, 2) < 1)]
			p1[s*8 + i] = x
		}
	}
}
`, `	for serial s < 4 {
		for vector i < 4 {
			x = p0[s*8 + i]
			p1[s*16 + i*2] = x
		}
		for vector i_2 < 4 {
			x_2 = f32(0)
			p1[s*16 + (i_2*2 + 1)] = x_2
		}
	}
	for serial s_2 < 4 {
		for vector i_3 < 8 {
			x_3 = f32(0)
			p1[s_2*16 + 8 + i_3] = x_3
		}
	}
`},
		{"stores of some", `for vector i < 16 {
	p1[i ? mod(i, 2) < 1] = p0[i]
}
`, `for vector i < 8 {
	%0 = i*2
	p1[%0] = p0[%0]
}
`},
		{"rows one behind the other", `for global r < 2 {
	for vector i < 50 {
		p1[r*50 + i] = p0[r*20 + mod(i, 20)] + p0[idiv(i, 20)]
	}
}
`, `	for serial it < 2 {
		for vector i < 20 {
			p1[r*50 + (it*20 + i)] = p0[r*20 + i] + p0[it]
		}
	}
	for vector i_2 < 10 {
		p1[r*50 + (i_2 + 40)] = p0[r*20 + i_2] + p0[2]
	}
`},
		{"short rows one behind the other", `for vector i < 45 {
	p1[i] = p0[mod(i, 15)]
}
`, ""},
		{"one row", `for vector i < 45 {
	p1[i] = p0[mod(i, 45)]
}
`, ""},
		{"few elements", `for vector i < 3 {
	p1[i] = where(mod(i, 2) < 1, p0[i], f32(0))
}
`, ""},
		{"a large stride", `for vector i < 64 {
	p1[i] = where(mod(i, 5) < 1, p0[i], f32(0))
}
`, ""},
		{"a length that a run knows", `for vector i < size(n) {
	p1[i] = where(mod(i, 2) < 1, p0[i], f32(0))
}
`, ""},
		{"no condition", `for vector i < 64 {
	p1[i] = p0[mod(i, 2)]
}
`, ""},
		{"rows that overlap", `for global r < 1 {
	for serial s < 16 {
		for vector i < 5 {
			p1[s*4 + i] = where(mod(s, 2) < 1, p0[s], f32(0))
		}
	}
}
`, ""},
		{"rows that are found by a division", `for global r < 1 {
	for serial s < 16 {
		for vector i < 5 {
			p1[idiv(s*5, 2) + i] = where(mod(s, 2) < 1, p0[s], f32(0))
		}
	}
}
`, ""},
		{"rows that read the one before", `for global r < 1 {
	for serial s < 16 {
		p1[s] = where(mod(s, 2) < 1, p1[max(s - 1, 0)], p0[s])
	}
}
`, ""},
		{"a value that is carried on", `for global r < 1 {
	x = f32(0)
	for serial s < 16 {
		x = x + p0[s ? mod(s, 2) < 1]
		p1[s] = x
	}
}
`, ""},
		{"the global loop", `for global r < 16 {
	p1[r] = where(mod(r, 2) < 1, p0[r], f32(0))
}
`, ""},
		{"a sum", `s = f32(0)
for vector i < 64 {
	s add= where(mod(i, 2) < 1, p0[i], f32(0))
}
p1[0] = s
`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := loop.Parse(head + c.body)
			if err != nil {
				t.Fatal(err)
			}
			split := loop.SplitRemainders(k)
			if err := loop.Check(split); err != nil {
				t.Error(err)
			}
			if c.want != "" && !bytes.Equal(stored(t, split), stored(t, k)) {
				t.Errorf("stores something else:\n%v", split)
			}
			if got := split.String(); c.want == "" && split != k {
				t.Errorf("became\n%s", got)
			} else if !strings.Contains(got, c.want) {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestSplitRemaindersEnds: a nest in which each loop could be split makes no more than so
// many loops, as each axis would multiply them.
func TestSplitRemaindersEnds(t *testing.T) {
	var text strings.Builder
	const axes = 4
	text.WriteString("kernel \"k\"\nparam p0 f32[4096] read\nparam p1 f32[4096] write\nfor global g < 1 {\n")
	index, value := "g", "f32(9)"
	for i := range axes {
		kind := "serial"
		if i == axes-1 {
			kind = "vector"
		}
		fmt.Fprintf(&text, "for %s i%d < 8 {\n", kind, i)
		index = fmt.Sprintf("(%s)*8 + i%d", index, i)
		value = fmt.Sprintf("where(mod(i%d, 4) < 1, %s, p0[i%d])", i, value, i)
	}
	fmt.Fprintf(&text, "p1[%s] = %s\n%s}\n", index, value, strings.Repeat("}\n", axes))
	k, err := loop.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	split := loop.SplitRemainders(k)
	if err := loop.Check(split); err != nil || split == k {
		t.Errorf("stays as it is, or %v", err)
	}
	if loops := strings.Count(split.String(), "for "); loops > 60 {
		t.Errorf("%d loops:\n%v", loops, split)
	}
}

// TestSplitRemainders has random kernels do the same in loops of their own.
func TestSplitRemainders(t *testing.T) { testRandomKernels(t, loop.SplitRemainders) }
