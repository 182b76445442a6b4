package loop_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// windows packs rows of windows of 3 x 3 places with 16 channels from images of 6 x 6,
// the steps from lo to hi of each.
const windows = `kernel "windows"
symbol lo 0 144
symbol hi 0 144
param p0 f32[576] read
param p1 f32[2304] write
for global r < 16 {
	for vector k = size(lo) to size(hi) {
		p1[r*144 + k - size(lo)] = p0[(idiv(r, 4) + idiv(k, 48))*96 + (mod(r, 4) + mod(idiv(k, 16), 3))*16 + mod(k, 16)]
	}
}
`

func TestRunsText(t *testing.T) {
	const want = `kernel "windows"
symbol lo 0 144
symbol hi 0 144
param p0 f32[576] read
param p1 f32[2304] write
for global r < 16 {
	for serial kq = idiv(size(lo), 16) to idiv(size(hi) + 15, 16) {
		%0 = kq*16
		for vector k = max(size(lo) - %0, 0) to min(size(hi) - %0, 16) {
			p1[r*144 + (kq*16 + k) - size(lo)] = p0[(idiv(r, 4) + idiv(kq, 3))*96 + mod(r, 4)*16 + (mod(kq, 3)*16 + k)]
		}
	}
}
`
	if got := inRuns(t, windows).String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, other := range []string{"f32[2304] write\nfor global r < 16 {\n\tfor vector k < 16 {\n\t\tp1[r*16 + k] = p0[r + k]\n", // no quotients
		"f32[2304] write\nfor global r < 16 {\n\tfor vector k < 144 {\n\t\tp1[r*144 + k] = p0[idiv(k, 16) + idiv(k, 9)]\n", // no common run
	} {
		text := "kernel \"other\"\nparam p0 f32[576] read\nparam p1 " + other + "\t}\n}\n"
		if got := inRuns(t, text).String(); got != text {
			t.Errorf("%s\nbecame\n%s", text, got)
		}
	}
}

// inRuns is a kernel with Runs of the loop within its outer one.
func inRuns(t *testing.T, text string) *loop.Kernel {
	t.Helper()
	k, err := loop.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	outer := k.Body[0].(*loop.Loop)
	outer.Body = []loop.Stmt{loop.Runs(outer.Body[0].(*loop.Loop))}
	if err := loop.Check(k); err != nil {
		t.Fatal(err)
	}
	return k
}

// TestRuns begins and ends within runs, and where one does.
func TestRuns(t *testing.T) {
	k, err := loop.Parse(windows)
	if err != nil {
		t.Fatal(err)
	}
	runs := inRuns(t, windows)
	rng := rand.New(rand.NewPCG(1, 2))
	image := make([]byte, 4*576)
	for i := range 576 {
		binary.LittleEndian.PutUint32(image[4*i:], uint32(i))
	}
	for range 300 {
		lo := rng.IntN(145)
		hi := lo + rng.IntN(145-lo)
		if rng.IntN(4) == 0 {
			lo, hi = lo/16*16, hi/16*16
		}
		pack := func(k *loop.Kernel) []byte {
			out := bytes.Repeat([]byte{0xEE}, 4*2304)
			a := &loop.Args{Buffers: [][]byte{image, out}, Sizes: ir.Env{"lo": lo, "hi": hi}, End: 16}
			if err := loop.Interpret(k, a); err != nil {
				t.Fatalf("%d to %d: %v", lo, hi, err)
			}
			return out
		}
		if !bytes.Equal(pack(k), pack(runs)) {
			t.Errorf("%d to %d: packed otherwise", lo, hi)
		}
	}
}
