package loop_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// TestRowsFirst puts lanes that scatter inside the loops that they go through, and no
// others, and changes no bit.
func TestRowsFirst(t *testing.T) {
	const head = `kernel "k"
slots 1
symbol n 0 64
param p0 f32[512] read
param p1 i32[512] read
param p2 f32[512] write
`
	const copied = "\t\tfor serial c < 8 {\n\t\t\tp2[c*16 + r] = p0[c*16 + r]\n\t\t}\n"
	for _, c := range []struct{ name, body, want string }{
		{"each lane to its place", "for global b < 2 {\n\tfor vector r = b*8 to b*8 + 8 {\n" + copied +
			"\t\tfor serial u < size(n) {\n\t\t\tp2[index(cast.i64(p1[u*16 + r]), 8, 0)*16 + r] = p0[u*16 + r] + f32(1)\n\t\t}\n\t}\n}\n",
			"\tfor serial c < 8 {\n\t\t%0 = b*8\n\t\tfor vector r = %0 to %0 + 8 {\n"},
		{"all to one row", "for vector r < 16 {\n" + copied + "\t\tfor serial u < size(n) {\n\t\t\tp2[index(cast.i64(p1[u]), 8, 0)*16 + r] = p0[u*16 + r]\n\t\t}\n}\n", ""},
		{"a local", "for vector r < 16 {\n\tfor serial u < 8 {\n\t\tx = p0[u*16 + r]\n\t\tp2[index(cast.i64(p1[u*16 + r]), 8, 0)*16 + r] = x*x\n\t}\n}\n", ""},
		{"nothing that scatters", "for vector r < 16 {\n" + copied + "}\n", ""},
	} {
		k, err := loop.Parse(head + c.body)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := loop.Check(k); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		rows := loop.RowsFirst(k)
		if c.want == "" {
			if rows != k {
				t.Errorf("%s: %v", c.name, rows)
			}
			continue
		}
		if err := loop.Check(rows); err != nil || !strings.Contains(rows.String(), c.want) {
			t.Errorf("%s: %v, without %q: %v", c.name, err, c.want, rows)
		}
		for n := range 9 {
			var out [2][]byte
			for i, k := range []*loop.Kernel{k, rows} {
				rng := rand.New(rand.NewPCG(uint64(n), 1))
				args := &loop.Args{Sizes: ir.Env{"n": n}, Status: make([]int64, 1), Start: 0, End: 2}
				for range 3 {
					b := make([]byte, 4*512)
					for j := 0; j < len(b); j += 4 {
						b[j] = byte(rng.IntN(9)) // indices of which some are outside
					}
					args.Buffers = append(args.Buffers, b)
				}
				if err := loop.Interpret(k, args); err != nil {
					t.Fatal(err)
				}
				out[i] = append(args.Buffers[2], byte(args.Status[0]))
			}
			if !bytes.Equal(out[0], out[1]) {
				t.Errorf("%s, n = %d: other results", c.name, n)
			}
		}
	}
}
