// Packedlayout settles in which order the constant operand of a matrix product
// is packed: in panels as wide as the instruction set's tile, or in panels of
// 16 columns that every instruction set could read, so that files might hold
// them ready. It times both on one thread, in turns, for the nine shapes, and
// prints the median ratio. docs/rationale.md holds the answer.
//
//	go run ./bench/packedlayout
//
// With AVX2, whose tile is 16 columns wide, both are the same.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/jit"
)

// rows x cols x k
var shapes = [][3]int{
	{512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048},
	{1024, 384, 384}, {1024, 1536, 384}, {1024, 384, 1536},
	{4096, 384, 384}, {4096, 1536, 384}, {4096, 384, 1536},
}

const (
	rounds   = 21
	vector   = 64        // bytes
	kBlock   = 512       // of k at a time
	bBytes   = 512 << 10 // of B in the second cache
	unroll   = 4
	padBytes = 64 // between packed rows of A
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "packedlayout:", err)
		os.Exit(1)
	}
}

func run() error {
	cpu := cpuid.Host()
	if !cpu.HasAVX512() {
		return fmt.Errorf("this processor has no AVX-512: the layouts do not differ")
	}
	runtime.LockOSThread()
	fmt.Printf("%s, %s\n", cpu.Brand, cpu.Arch)
	for _, t := range []tile{{6, 4}, {14, 2}} {
		for _, s := range shapes {
			ratio, native, err := compare(t, s)
			if err != nil {
				return err
			}
			fmt.Printf("tile %dx%d  %dx%dx%d  panels of %d: %.1f GFLOP/s, of 16: %.3f of that\n",
				t.rows, t.vectors*16, s[0], s[1], s[2], t.vectors*16, native/1e9, ratio)
		}
	}
	return nil
}

// tile is a block of results in registers: rows x vectors of 16 columns.
type tile struct{ rows, vectors int }

// args is what a kernel gets in RDI.
type args struct {
	a, b, c  unsafe.Pointer
	lda, ldc uintptr
	vectorB  uintptr // bytes from a vector of B to the next of the same k
	rounds   uintptr // of unroll k
	fresh    uintptr // 1: C starts from zero
}

// emit writes a kernel for a tile's results of one block of k. With narrow
// panels a vector of B lies vectorB behind the one before it, with wide ones
// right behind.
func emit(t tile, narrow bool) (*jit.Code, error) {
	a := asm.New(asm.AVX512)
	const pa, pb, pc, lda, ldc, vb, count, vb3 = asm.RSI, asm.RDX, asm.RCX, asm.R8, asm.R9, asm.RBX, asm.RAX, asm.R15
	for i, r := range []asm.R{pa, pb, pc, lda, ldc, vb, count} {
		a.Op(asm.MOV, r, asm.Ptr(asm.RDI, 8*i))
	}
	a.Op(asm.LEA, vb3, asm.Idx(vb, vb, 2, 0))
	bases := []asm.R{asm.R10, asm.R11, asm.R12, asm.R13, asm.R14}
	a.Op(asm.MOV, bases[0], pa)
	for g := 1; 3*g < t.rows; g++ {
		a.Op(asm.LEA, bases[g], asm.Idx(bases[g-1], lda, 2, 0))
		a.Op(asm.ADD, bases[g], lda)
	}
	acc := func(r, v int) asm.V { return asm.V(r*t.vectors + v) }
	each := func(f func(r, v int, cell asm.M)) {
		a.Op(asm.MOV, pa, pc)
		for r := range t.rows {
			for v := range t.vectors {
				f(r, v, asm.Ptr(pa, v*vector))
			}
			a.Op(asm.ADD, pa, ldc)
		}
	}
	fresh, begin := a.NewLabel(), a.NewLabel()
	a.Op(asm.CMP, asm.Ptr(asm.RDI, 56), asm.Imm(1))
	a.J(asm.EQ, fresh)
	each(func(r, v int, cell asm.M) { a.Op(asm.VMOVUPS, acc(r, v), cell) })
	a.Jmp(begin)
	a.Bind(fresh)
	each(func(r, v int, cell asm.M) {
		a.Op(asm.VPXORD, acc(r, v), acc(r, v), acc(r, v))
		a.Op(asm.PREFETCHW, cell)
	})
	a.Bind(begin)
	a.Align(32)
	again := a.Here()
	step := t.vectors * vector // bytes of B from k to k
	if narrow {
		step = vector
	}
	for k := range unroll {
		b := asm.V(t.rows * t.vectors)
		for v := range asm.V(t.vectors) {
			at := asm.Ptr(pb, k*step+int(v)*vector)
			if narrow && v > 0 {
				at = []asm.M{1: asm.Idx(pb, vb, 1, k*step), 2: asm.Idx(pb, vb, 2, k*step), 3: asm.Idx(pb, vb3, 1, k*step)}[v]
			}
			a.Op(asm.VMOVUPS, b+v, at)
		}
		for r := range t.rows {
			at := asm.Ptr(bases[r/3], 4*k)
			if r%3 > 0 {
				at = asm.Idx(bases[r/3], lda, r%3, 4*k)
			}
			x := b + asm.V(t.vectors+r%2)
			a.Op(asm.VBROADCASTSS, x, at)
			for v := range asm.V(t.vectors) {
				a.Op(asm.VFMADD231PS, acc(r, int(v)), x, b+v)
			}
		}
	}
	a.Op(asm.ADD, pb, asm.Imm(unroll*step))
	for g := 0; 3*g < t.rows; g++ {
		a.Op(asm.ADD, bases[g], asm.Imm(4*unroll))
	}
	a.Op(asm.SUB, count, asm.Imm(1))
	a.J(asm.NE, again)
	each(func(r, v int, cell asm.M) { a.Op(asm.VMOVUPS, cell, acc(r, v)) })
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	text, err := a.Finish()
	if err != nil {
		return nil, err
	}
	return jit.Map(text)
}

// product is one shape with its memory and kernels.
type product struct {
	tile
	m, n, k int
	a, b, c *jit.Memory
	rowA    *jit.Memory // rows of A for one tile, apart from each other in the cache
	code    map[bool][]*jit.Code
}

// compare times both layouts in turns.
func compare(t tile, shape [3]int) (ratio, native float64, err error) {
	p := &product{tile: t, m: shape[0], n: shape[1], k: shape[2], code: map[bool][]*jit.Code{}}
	var memory jit.Allocator
	for _, x := range []struct {
		to    **jit.Memory
		bytes int
	}{{&p.a, 4 * p.m * p.k}, {&p.b, 4 * p.k * p.n}, {&p.c, 4 * p.m * p.n}, {&p.rowA, t.rows * (4*kBlock + padBytes)}} {
		if *x.to, err = memory.Alloc(x.bytes); err != nil {
			return 0, 0, err
		}
		f := unsafe.Slice((*float32)((*x.to).Pointer()), x.bytes/4)
		for i := range f {
			f[i] = float32(i%7) - 3
		}
		defer func() { _ = (*x.to).Close() }()
	}
	for _, narrow := range []bool{false, true} {
		for rows := range t.rows {
			code, err := emit(tile{rows + 1, t.vectors}, narrow)
			if err != nil {
				return 0, 0, err
			}
			defer func() { _ = code.Close() }()
			p.code[narrow] = append(p.code[narrow], code)
		}
	}
	work := 2 * float64(p.m) * float64(p.n) * float64(p.k)
	runs := max(1, int(1e9/work))
	var ratios, rates []float64
	for range rounds {
		var rate [2]float64
		for i, narrow := range []bool{false, true} {
			p.multiply(narrow)
			start := time.Now()
			for range runs {
				p.multiply(narrow)
			}
			rate[i] = work * float64(runs) / time.Since(start).Seconds()
		}
		ratios, rates = append(ratios, rate[1]/rate[0]), append(rates, rate[0])
	}
	slices.Sort(ratios)
	slices.Sort(rates)
	return ratios[rounds/2], rates[rounds/2], nil
}

// multiply computes C from B in blocks of k, in each the columns that the
// second cache holds, in these the rows of a tile. It writes the same memory
// for B in both layouts: only the order of reading counts here.
func (p *product) multiply(narrow bool) {
	width := p.vectors * 16
	blocks := (p.k + kBlock - 1) / kBlock
	rowTiles := (p.m + p.rows - 1) / p.rows
	for kb := range blocks {
		k0, k1 := p.k*kb/blocks, p.k*(kb+1)/blocks
		ks := k1 - k0
		panels := max(1, bBytes/(4*width*ks))
		for col := 0; col < p.n/width; col += panels {
			end := min(col+panels, p.n/width)
			for i := range rowTiles {
				r0, r1 := p.m*i/rowTiles, p.m*(i+1)/rowTiles
				lda := 4*kBlock + padBytes
				for r := r0; r < r1; r++ {
					from := unsafe.Slice((*float32)(unsafe.Add(p.a.Pointer(), 4*(r*p.k+k0))), ks)
					copy(unsafe.Slice((*float32)(unsafe.Add(p.rowA.Pointer(), (r-r0)*lda)), ks), from)
				}
				x := args{a: p.rowA.Pointer(), lda: uintptr(lda), ldc: uintptr(4 * p.n), vectorB: uintptr(vector * ks), rounds: uintptr(ks / unroll)}
				if kb == 0 {
					x.fresh = 1
				}
				entry := p.code[narrow][r1-r0-1].Entry(0)
				for j := col; j < end; j++ {
					x.b = unsafe.Add(p.b.Pointer(), 4*(k0*p.n+j*width*ks))
					x.c = unsafe.Add(p.c.Pointer(), 4*(r0*p.n+j*width))
					jit.Call(entry, unsafe.Pointer(&x))
				}
			}
		}
	}
}
