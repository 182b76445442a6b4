package x86

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/native/nativetest"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
)

// streamed are kernels and which of their params stream.
var streamed = map[string]struct {
	text string
	want []int
}{
	"blocks": {`kernel "k"
symbol N 0 100000
param x f32[N] read
param y f32[N] write
param z i32[N] write
for global b < idiv(size(N) + 4095, 4096) {
	for vector i = b*4096 to min(b*4096 + 4096, size(N)) {
		y[i] = x[i] + f32(1)
		z[i] = cast.i32(x[i])
	}
}`, []int{1, 2}},
	"rows": {`kernel "k"
symbol M 0 1000
param x f32[200*M] read
param y f32[200*M] write
for global r < size(M) {
	for vector i < 200 {
		y[r*200 + i] = x[r*200 + i]*f32(2)
	}
}`, nil},
	"rows of lines": {`kernel "k"
symbol M 0 1000
param x f32[208*M] read
param y f32[208*M] write
for global r < size(M) {
	for vector i < 208 {
		y[r*208 + i] = x[r*208 + i]*f32(2)
	}
}`, []int{1}},
	"rows of a symbol": {`kernel "k"
symbol M 0 1000
symbol N 0 1000
param x f32[M*N] read
param y f32[M*N] write
for global r < size(M) {
	for vector i < size(N) {
		y[r*size(N) + i] = f32(2)*x[r*size(N) + i]
	}
}`, nil},
	"blocks of a symbol": {`kernel "k"
symbol M 0 100
symbol N 0 100
param x f32[64*M*N] read
param y f32[64*M*N] write
for global r < size(M) {
	for vector i < size(N)*64 {
		y[r*size(N)*64 + i] = f32(2)*x[r*size(N)*64 + i]
	}
}`, []int{1}},
	"shifted": {`kernel "k"
symbol N 0 100000
param x f32[N] read
param y f32[N + 4] write
for vector i < size(N) {
	y[i + 4] = x[i]
}`, nil},
	"late": {`kernel "k"
symbol N 0 100000
param x f32[N + 8] read
param y f32[N + 8] write
for vector i = 8 to size(N) + 8 {
	y[i] = x[i]
}`, nil},
	"a line late": {`kernel "k"
symbol N 0 100000
param x f32[N + 16] read
param y f32[N + 16] write
for vector i = 16 to size(N) + 16 {
	y[i] = x[i]
}`, []int{1}},
	"read again": {`kernel "k"
symbol N 0 100000
param x f32[N] read
param y f32[N] write
param z f32[N] write
for vector i < size(N) {
	y[i] = x[i]
	z[i] = y[i] + f32(1)
}`, []int{2}},
	"conditional": {`kernel "k"
symbol N 0 100000
param x f32[N] read
param y f32[N] write
for vector i < size(N) {
	y[i ? x[i] < f32(3)] = x[i]
}`, nil},
	"updated, scratch, narrow": {`kernel "k"
symbol N 0 100000
param x f32[N] read
param u f32[N] update
param s f32[N] scratch
param h f16[N] write
for vector i < size(N) {
	u[i] = x[i]
	s[i] = x[i]
	h[i] = cast.f16(x[i])
}`, nil},
}

func TestStreams(t *testing.T) {
	for name, c := range streamed {
		t.Run(name, func(t *testing.T) {
			k := parse(t, c.text)
			for _, isa := range []ISA{AVX512, AVX2} {
				plain, streaming, err := EmitStreaming(k, isa)
				if err != nil {
					t.Fatal(err)
				}
				if usual, err := Emit(k, isa); err != nil || !bytes.Equal(usual.Text, plain.Text) || plain.Streams != nil {
					t.Errorf("%s: the plain form is not what Emit gives: %v", isaNames[isa], err)
				}
				if streaming == nil {
					if c.want != nil {
						t.Errorf("%s: nothing streams, want %v", isaNames[isa], c.want)
					}
					continue
				}
				if !slices.Equal(streaming.Streams, c.want) {
					t.Errorf("%s: %v stream, want %v", isaNames[isa], streaming.Streams, c.want)
				}
				if text := streaming.Listing(); !strings.Contains(text, "vmovntps") || strings.Count(text, "sfence") != 1 {
					t.Errorf("%s: no streaming stores, or not one fence:\n%s", isaNames[isa], text)
				}
			}
		})
	}
}

// Both forms leave the same bits, behind results of odd sizes too.
func TestStreamingEqual(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for name, c := range streamed {
			k := parse(t, c.text)
			plain, streaming, err := EmitStreaming(k, isa)
			if err != nil {
				t.Fatal(err)
			}
			if streaming == nil {
				continue
			}
			for _, n := range []int{0, 1, 15, 16, 17, 63, 64, 65, 100, 127, 129, 1000} {
				env := ir.Env{"N": n, "M": n % 7}
				want, err := runAligned(k, plain, env)
				if err != nil {
					t.Fatal(err)
				}
				got, err := runAligned(k, streaming, env)
				if err != nil {
					t.Fatalf("%s, N=%d: %v\n%s", name, n, err, streaming.Listing())
				}
				for i := range want {
					if !bytes.Equal(got[i], want[i]) {
						t.Errorf("%s, N=%d: param %d differs\n%s", name, n, i, streaming.Listing())
					}
				}
			}
		}
	})
}

// runAligned runs code over buffers that start at multiples of 64 and end less
// than 64 bytes before an unmapped page; what lies between must stay as it is.
func runAligned(k *loop.Kernel, code *Code, env ir.Env) ([][]byte, error) {
	c, err := nativetest.CaseOf(k, env, 1)
	if err != nil {
		return nil, err
	}
	mapped, err := jit.Map(code.Text)
	if err != nil {
		return nil, err
	}
	defer mapped.Close()
	l := native.LayoutOf(k)
	words := make([]uint64, l.Words)
	var all [][]byte
	for i, b := range c.Args.Buffers {
		m, err := jit.AllocGuarded((len(b)+native.Padding)&^(native.Padding-1), native.Padding)
		if err != nil {
			return nil, err
		}
		defer m.Close()
		copy(m.Bytes(), b)
		for j := len(b); j < len(m.Bytes()); j++ {
			m.Bytes()[j] = 0xA5
		}
		words[l.Params+i] = uint64(uintptr(m.Pointer()))
		all = append(all, m.Bytes())
	}
	for i, s := range k.Symbols() {
		words[l.Symbols+i] = uint64(env[s.Name])
	}
	words[l.Start], words[l.End] = uint64(c.Args.Start), uint64(c.Args.End)
	err = jit.Protect(func() error {
		jit.Call(mapped.Entry(0), unsafe.Pointer(&words[0]))
		return nil
	})
	runtime.KeepAlive(words)
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	for i, b := range all {
		all[i] = bytes.Clone(b)
	}
	return all, nil
}

// Codes of different loops accumulate alike where as many registers, and the same
// plan for what is left over, share the sum.
func TestSumsLike(t *testing.T) {
	sum := func(width int, extra string) (*Code, *loop.Local) {
		t.Helper()
		k, err := loop.Parse(fmt.Sprintf(`kernel "k"
param x f32[%[1]d] read
param y f32[8] write
for global r < 8 {
	s = f32(0)
	for vector i < %[1]d {
		%[2]s
		s add= x[i]
	}
	y[r] = s
}`, width, extra))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Emit(k, AVX512)
		if err != nil {
			t.Fatal(err)
		}
		return c, k.Body[0].(*loop.Loop).Body[0].(*loop.Set).Local
	}
	manyLocals := ""
	for i := range 12 {
		manyLocals += fmt.Sprintf("t%d = x[i]\n", i)
	}
	four, l := sum(1024, "")
	for _, c := range []struct {
		name  string
		width int
		extra string
		want  bool
	}{
		{"the same", 1024, "", true},
		{"longer", 2048, "", true},
		{"with a local", 1024, "t = x[i]", true},
		{"in fewer registers", 32, "", false},
		{"in fewer registers, as others are held", 1024, manyLocals, false},
	} {
		other, m := sum(c.width, c.extra)
		if got := other.SumsLike(four, map[*loop.Local]*loop.Local{m: l}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if other, _ := sum(1024, ""); other.SumsLike(four, nil) {
		t.Error("sums in a local that the other does not have are alike")
	}
}
