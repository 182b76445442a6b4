package loop_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

func TestTurnShortText(t *testing.T) {
	const head = `kernel "k"
symbol n 0 64
param p0 f32[512] read
param p1 f32[512] write
`
	for _, c := range []struct{ name, body, want string }{
		{"a stack", `for global r < 64 {
	for vector i < 2 {
		x = where(i < 1, p0[r ? i < 1], p0[r + 64 ? 0 < i])
		p1[r*2 + i] = x
	}
}
`, `for vector r < 64 {
	x = p0[r]
	p1[r*2] = x
	x_2 = p0[r + 64]
	p1[r*2 + 1] = x_2
}
`},
		{"many rows", `for global r < size(n) {
	for vector i < 2 {
		p1[r*2 + i] = p0[i]
	}
}
`, `for global rb < idiv(size(n) + 1023, 1024) {
	%0 = rb*1024
	for vector r = %0 to min(%0 + 1024, size(n)) {
		p1[r*2] = p0[0]
		p1[r*2 + 1] = p0[1]
	}
}
`},
		{"an inner axis", `for global r < 3 {
	for serial s < 16 {
		for vector i < 3 {
			p1[r*64 + s*3 + i] = p0[s]
		}
	}
}
`, `	for vector s < 16 {
		p1[r*64 + s*3] = p0[s]
		p1[r*64 + s*3 + 1] = p0[s]
		p1[r*64 + s*3 + 2] = p0[s]
	}
`},
		{"rows that overlap", `for global r < 3 {
	for serial s < 16 {
		for vector i < 3 {
			p1[r*64 + s*2 + i] = p0[s]
		}
	}
}
`, ""},
		{"rows that are found by what is loaded", `for global r < 3 {
	for serial s < 16 {
		for vector i < 3 {
			p1[cast.i64(p0[s])*3 + i] = p0[s]
		}
	}
}
`, ""},
		{"rows that read the one before", `for global r < 1 {
	for serial s < 16 {
		for vector i < 3 {
			p1[s*3 + i] = p1[max(s - 1, 0)*3 + i]
		}
	}
}
`, ""},
		{"rows that are stored twice", `for global r < 1 {
	for serial s < 16 {
		for vector i < 3 {
			p1[s*3 + i] = p0[s]
			p1[s*3 + 3 + i] = p0[s]
		}
	}
}
`, ""},
		{"few rows", `for global r < 15 {
	for vector i < 2 {
		p1[r*2 + i] = p0[r]
	}
}
`, ""},
		{"longer rows", `for global r < 64 {
	for vector i < 5 {
		p1[r*5 + i] = p0[r]
	}
}
`, ""},
		{"a length that a run knows", `for global r < 64 {
	for vector i < size(n) {
		p1[r*2 + i] = p0[r]
	}
}
`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := loop.Parse(head + c.body)
			if err != nil {
				t.Fatal(err)
			}
			turned := loop.TurnShort(k)
			if err := loop.Check(turned); err != nil {
				t.Error(err)
			}
			if c.want != "" && !bytes.Equal(stored(t, turned), stored(t, k)) {
				t.Errorf("stores something else:\n%v", turned)
			}
			if got := turned.String(); c.want == "" && turned != k {
				t.Errorf("became\n%s", got)
			} else if !strings.Contains(got, c.want) {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// stored is what k makes of p1, of which every element was 0, with n = 37.
func stored(t *testing.T, k *loop.Kernel) []byte {
	t.Helper()
	from, to := make([]byte, 4*512), make([]byte, 4*512)
	for i := range 512 {
		binary.LittleEndian.PutUint32(from[4*i:], math.Float32bits(float32(i+1)))
	}
	a := &loop.Args{Buffers: [][]byte{from, to}, Sizes: ir.Env{"n": 37}}
	if l, ok := k.Body[0].(*loop.Loop); ok && l.Range == loop.Global {
		var err error
		if a.Start, a.End, err = k.Span(a.Sizes); err != nil {
			t.Fatal(err)
		}
	}
	if err := loop.Interpret(k, a); err != nil {
		t.Fatalf("%v\n%v", err, k)
	}
	return to
}
