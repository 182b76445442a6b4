package x86

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/emit/native/nativetest"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// The kernels of nativetest stand for what lowering makes: each runs over
// many sizes against the interpreter, and its listing is compared with the one
// on file, on machines of any kind.

var update = flag.Bool("update", false, "write the listings of testdata anew")

func kernels(t testing.TB) map[string]*loop.Kernel {
	all, err := nativetest.Kernels()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestKernels(t *testing.T) {
	all := kernels(t)
	eachISA(t, func(t *testing.T, isa ISA) {
		for name, k := range all {
			t.Run(name, func(t *testing.T) {
				for n := 0; n <= 70; n++ {
					for _, m := range []int{0, 1, 3} {
						c, err := nativetest.CaseOf(k, ir.Env{"N": n, "M": m}, uint64(n))
						if err != nil {
							t.Fatal(err)
						}
						if err := nativetest.Check(c, emitterFor(isa), nativetest.Near[name]); err != nil {
							t.Fatalf("N=%d M=%d: %v", n, m, err)
						}
					}
				}
			})
		}
	})
}

// A part of the Global loop leaves the rest of the output alone.
func TestRange(t *testing.T) {
	k := kernels(t)["bias_relu"]
	eachISA(t, func(t *testing.T, isa ISA) {
		c, err := nativetest.CaseOf(k, ir.Env{"N": 37, "M": 9}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range [][2]int{{0, 0}, {0, 1}, {3, 7}, {8, 9}, {9, 9}} {
			c.Args.Start, c.Args.End = part[0], part[1]
			if err := checkCase(c, isa); err != nil {
				t.Fatal(part, err)
			}
		}
	})
}

func TestListings(t *testing.T) {
	for name, k := range kernels(t) {
		for _, isa := range []ISA{AVX2, AVX512} {
			code, err := Emit(k, isa)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "listings", name+"."+isaNames[isa]+".txt")
			got := code.asm.Lines()
			var text strings.Builder
			for _, l := range got {
				fmt.Fprintln(&text, l.Text)
			}
			if *update {
				if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if text.String() != string(want) {
				t.Errorf("%s differs; if that is meant, run go test -update\n%s", file, text.String())
			}
		}
	}
}

// Kernels of this size keep everything in registers.
func TestNoSpills(t *testing.T) {
	for name, k := range kernels(t) {
		for _, isa := range []ISA{AVX2, AVX512} {
			code, err := Emit(k, isa)
			if err != nil {
				t.Fatal(err)
			}
			if name == "split_heads" && isa == AVX2 {
				continue // lane by lane, index arithmetic all over
			}
			if code.SpillBytes != 0 {
				t.Errorf("%s on %s uses %d bytes of spill area:\n%s", name, isaNames[isa], code.SpillBytes, code.Listing())
			}
		}
	}
}

// loopsOf lists the loops: the lines from a backward jump's target to the jump.
func loopsOf(lines []asm.Line) [][]asm.Line {
	at := map[string]int{}
	var loops [][]asm.Line
	for i, l := range lines {
		if name, ok := strings.CutSuffix(l.Text, ":"); ok {
			at[name] = i
			continue
		}
		if to, ok := at[l.Text[strings.LastIndexByte(l.Text, ' ')+1:]]; ok && strings.HasPrefix(l.Text, "j") {
			loops = append(loops, lines[to:i+1])
		}
	}
	return loops
}

// The main loop of a fused chain holds what it must and nothing else.
func TestHotLoop(t *testing.T) {
	for _, isa := range []ISA{AVX2, AVX512} {
		code, err := Emit(kernels(t)["bias_relu"], isa)
		if err != nil {
			t.Fatal(err)
		}
		main := loopsOf(code.asm.Lines())[0]
		count := map[string]int{}
		for _, l := range main {
			count[strings.SplitN(l.Text, " ", 2)[0]]++
		}
		// A load, bias in memory, relu in two, a store, for four registers.
		want := map[string]int{"vmovups": 8, "vaddps": 8, "vmaxps": 4, "add": 1, "cmp": 1, "jl": 1}
		for op, n := range want {
			if count[op] != n {
				t.Errorf("%s: %d %s instead of %d:\n%v", isaNames[isa], count[op], op, n, main)
			}
		}
		if len(main) != 23+1 {
			t.Errorf("%s: %d lines:\n%v", isaNames[isa], len(main), main)
		}
	}
}

// TestManyParts: loops that are not inside each other, and buffers that are only read, may
// be as many as there are.
func TestManyParts(t *testing.T) {
	const parts = 150
	var text strings.Builder
	fmt.Fprintf(&text, "kernel \"k\"\n")
	for i := range parts {
		fmt.Fprintf(&text, "param p%d f32[37] read\n", i)
	}
	fmt.Fprintf(&text, "param p%d f32[%d] write\nfor global r < %d {\n", parts, parts*37, parts)
	for i := range parts {
		fmt.Fprintf(&text, "for serial once < min(max(min(r + %d, %d - r), 0), 1) {\nfor vector i < 37 {\np%d[r*37 + i] = p%d[i] + f32(1)\n}\n}\n", 1-i, 1+i, parts, i)
	}
	text.WriteString("}\n")
	k := parse(t, text.String())
	eachISA(t, func(t *testing.T, isa ISA) {
		c, err := nativetest.CaseOf(k, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkCase(c, isa); err != nil {
			t.Error(err)
		}
	})
}
