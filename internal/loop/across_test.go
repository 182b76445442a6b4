package loop_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/loop"
)

// acrossHead is an image of 16 channels of 32 x 32 places, and one turned so that
// they come last.
const acrossHead = `kernel "k"
symbol n 0 64
param p0 f32[20000] read
param p1 f32[20000] write
param p2 f32[40000] write
`

func TestAcrossText(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"rows of places", `for global r < 32 {
	for serial s < 32 {
		for vector c < 16 {
			p1[r*512 + s*16 + c] = p0[c*1024 + r*32 + s]
		}
	}
}
`, `	for serial c < 16 {
		for vector s < 32 {
			p1[r*512 + s*16 + c] = p0[c*1024 + r*32 + s]
		}
	}
`},
		{"places in one loop", `for global r < 1024 {
	for vector c < 16 {
		p1[r*16 + c] = p0[c*1024 + r]
	}
}
`, `for global rb < 16 {
	for serial c < 16 {
		for vector r < 64 {
			%0 = rb*64 + r
			p1[%0*16 + c] = p0[c*1024 + %0]
		}
	}
}
`},
		{"a matrix whose columns are crowded too", `for global r < 16 {
	for vector c < 16 {
		p1[r*1024 + c] = p0[c*1024 + r]
	}
}
`, `for global rb < 2 {
	for serial c < 16 {
		for vector r < 8 {
`},
		{"two results", `for global r < 32 {
	for serial s < 32 {
		for vector c < 16 {
			p1[r*512 + s*16 + c] = p0[c*1024 + r*32 + s]
			p2[r*1024 + s*32 + c] = neg(p0[c*1024 + r*32 + s])
		}
	}
}
`, "for vector s < 32"},
		{"zeros around", `for global r < 34 {
	for serial s < 34 {
		for vector c < 16 {
			%0 = and(and(0 < r, r < 33), and(0 < s, s < 33))
			p1[r*544 + s*16 + c] = where(%0, p0[c*1024 + (r*32 + -32) + (s + -1) ? %0], f32(0))
		}
	}
}
`, "for vector s < 34"},
		{"few channels", `for global r < 32 {
	for serial s < 32 {
		for vector c < 8 {
			p1[r*512 + s*16 + c] = p0[c*1024 + r*32 + s]
		}
	}
}
`, ""},
		{"rows that stay near", `for global r < 32 {
	for serial s < 32 {
		for vector c < 16 {
			p1[r*512 + s*16 + c] = p0[c*1040 + r*32 + s]
		}
	}
}
`, ""},
		{"columns that are stored where others are pushed out", `for global r < 4 {
	for serial s < 16 {
		for vector c < 16 {
			p1[s*1024 + r*16 + c] = p0[c*1024 + r*16 + s]
		}
	}
}
`, ""},
		{"rows that overlap", `for global r < 32 {
	for serial s < 32 {
		for vector c < 19 {
			p1[r*512 + s*16 + c] = p0[c*1024 + r*32 + s]
		}
	}
}
`, ""},
		{"places that data names", `for global r < 32 {
	for serial s < 32 {
		for vector c < 16 {
			p1[r*512 + s*16 + c] = p0[c*1024 + cast.i64(p0[s])]
		}
	}
}
`, ""},
		{"an unknown number of places", `for global r < 32 {
	for serial s < size(n) {
		for vector c < 16 {
			p1[r*512 + s*16 + c] = p0[c*1024 + r*32 + s]
		}
	}
}
`, ""},
	} {
		k, err := loop.Parse(acrossHead + c.body)
		if err != nil {
			t.Fatal(c.name, err)
		}
		turned := loop.Across(k)
		if err := loop.Check(turned); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.want == "" && turned != k || !strings.Contains(turned.String(), c.want) {
			t.Errorf("%s:\n%v\nwant:\n%s", c.name, turned, c.want)
		}
		if got, want := acrossResults(t, turned), acrossResults(t, k); !bytes.Equal(got, want) {
			t.Errorf("%s: results differ", c.name)
		}
	}
}

// acrossResults runs a kernel on numbers, and gives what it writes.
func acrossResults(t *testing.T, k *loop.Kernel) []byte {
	t.Helper()
	buffers := [][]byte{make([]byte, 80_000), make([]byte, 80_000), make([]byte, 160_000)}
	for i := range 20_000 {
		binary.LittleEndian.PutUint32(buffers[0][4*i:], uint32(0x3f800000+i%37))
	}
	a := &loop.Args{Buffers: buffers, Sizes: map[string]int{"n": 20}, Status: make([]int64, k.Slots)}
	var err error
	if a.Start, a.End, err = k.Span(a.Sizes); err != nil {
		t.Fatal(err)
	}
	if err := loop.Interpret(k, a); err != nil {
		t.Fatal(err)
	}
	return bytes.Join(buffers[1:], nil)
}

// TestAcrossLong: where columns are long, workers share them as well as blocks of rows.
func TestAcrossLong(t *testing.T) {
	k, err := loop.Parse(`kernel "k"
param p0 f32[3200000] read
param p1 f32[3200000] write
for global r < 64 {
	for vector c < 50000 {
		p1[r*50000 + c] = p0[c*64 + r]
	}
}
`)
	if err != nil {
		t.Fatal(err)
	}
	if text := loop.Across(k).String(); !strings.Contains(text, "< 50000") || strings.Contains(text, "serial") {
		t.Errorf("columns are not shared:\n%s", text)
	}
}
