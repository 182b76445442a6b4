package ptxsim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
)

// together fails unless all lanes of the warp take part.
func (w *warp) together(s *step, m uint32) bool {
	if m != ^uint32(0) {
		w.fail(s, 0, "only lanes %#x of the warp take part", m)
		return false
	}
	return true
}

// loadMatrix decodes ldmatrix: lane i names row i%8 of matrix i/8, which has 8
// rows of 8 pairs of bytes; a lane gets the pair of columns i%4 of row i/4 of
// each, or with trans that of columns as rows.
func (d *decoder) loadMatrix(x *instruction) (run, error) {
	if err := x.want(2); err != nil {
		return nil, err
	}
	mods := strings.Join(x.mods, ".")
	count := 0
	for i, name := range []string{"x1", "x2", "x4"} {
		if x.has(name) {
			count = 1 << i
		}
	}
	trans := x.has("trans")
	if want := fmt.Sprintf("sync.aligned.m8n8.x%d", count); count == 0 || mods != want+".shared.b16" && mods != want+".trans.shared.b16" {
		return nil, fmt.Errorf("no way to run ldmatrix.%s", mods)
	}
	to, err := d.registersOf(x.args[0], "b32", count)
	if err != nil {
		return nil, err
	}
	s := &step{source: x}
	from := &access{s: s, space: "shared", size: 16, rows: []int{0}}
	if from.base, from.offset, err = d.address(x.args[1], "u32"); err != nil {
		return nil, err
	}
	d.f.unit = min(d.f.unit, 2)
	return func(w *warp, m uint32) {
		if !w.together(s, m) {
			return
		}
		var out [4]row
		for i := range count {
			var matrix [8][8]uint64
			for r := range 8 {
				b := from.bytes(w, 8*i+r, false)
				if b == nil {
					return
				}
				for c := range 8 {
					matrix[r][c] = uint64(binary.LittleEndian.Uint16(b[2*c:]))
				}
			}
			for lane := range lanes {
				r, c := lane/4, 2*(lane%4)
				if trans {
					out[i][lane] = matrix[c][r] | matrix[c+1][r]<<16
				} else {
					out[i][lane] = matrix[r][c] | matrix[r][c+1]<<16
				}
			}
		}
		for i, at := range to {
			w.rows[at] = out[i]
		}
	}, nil
}

// product is a shape of mma.sync: D = A*B + C with A of rows x k, B of k x 8.
type product struct {
	rows, k int
	bits    int // of an element of A and B
	floats  bool
	a, b    func(uint64) float64 // elements as numbers
}

// elements are the types of A and B.
var elements = map[string]struct {
	bits  int
	value func(uint64) float64
}{
	"f16":  {16, func(x uint64) float64 { return float64(ir.F16ToFloat32(uint16(x))) }},
	"bf16": {16, func(x uint64) float64 { return float64(ir.BF16ToFloat32(uint16(x))) }},
	"tf32": {32, func(x uint64) float64 { return float64(f32(x &^ 0x1fff)) }},
	"s8":   {8, func(x uint64) float64 { return float64(int8(x)) }},
	"u8":   {8, func(x uint64) float64 { return float64(uint8(x)) }},
}

// multiply decodes mma.sync.aligned.SHAPE.row.col.D.A.B.C.
func (d *decoder) multiply(x *instruction) (run, error) {
	if err := x.want(4); err != nil {
		return nil, err
	}
	mods := x.mods
	if len(mods) != 9 || strings.Join(mods[:2], ".") != "sync.aligned" || mods[3] != "row" || mods[4] != "col" {
		return nil, errors.New("only mma.sync.aligned.SHAPE.row.col of four types")
	}
	var p product
	if _, err := fmt.Sscanf(mods[2], "m%dn8k%d", &p.rows, &p.k); err != nil || p.rows != 8 && p.rows != 16 {
		return nil, fmt.Errorf("no shape %s", mods[2])
	}
	a, okA := elements[mods[6]]
	b, okB := elements[mods[7]]
	p.bits, p.a, p.b = a.bits, a.value, b.value
	p.floats = mods[5] == "f32"
	steps := p.k * p.bits / 128 // registers of B: a lane has 32 bits of each column's 128
	if !okA || !okB || a.bits != b.bits || mods[5] != mods[8] || p.floats == (a.bits == 8) || !p.floats && mods[5] != "s32" || steps*128 != p.k*p.bits || steps != 1 && steps != 2 {
		return nil, fmt.Errorf("no way to run mma of %s", strings.Join(mods[2:], "."))
	}
	var regs [4][]int
	var err error
	for i, n := range [4]int{p.rows / 4, steps * p.rows / 8, steps, p.rows / 4} {
		kind := "b32"
		if p.floats && i%3 == 0 {
			kind = "f32"
		}
		if regs[i], err = d.registersOf(x.args[i], kind, n); err != nil {
			return nil, err
		}
	}
	s := &step{source: x}
	return func(w *warp, m uint32) {
		if w.together(s, m) && (mods[6] != "tf32" || w.rounded(s, slices.Concat(regs[1], regs[2]))) {
			p.run(w, regs)
		}
	}, nil
}

// rounded fails unless registers hold TF32: the instruction would cut off the
// digits of what has more, which somebody forgot to round.
func (w *warp) rounded(s *step, regs []int) bool {
	for _, at := range regs {
		for lane, x := range w.rows[at] {
			if x&0x1fff != 0 && f32(x) == f32(x) {
				w.fail(s, lane, "%v has more digits than TF32", f32(x))
				return false
			}
		}
	}
	return true
}

// run multiplies. Lane l holds, of A, row l/4 (and 8 below it) and of B column
// l/4, from both the values of k in the (l%4)th 32 bits of 128; of C and D row
// l/4 (and 8 below it) and columns 2*(l%4) and the next.
func (p *product) run(w *warp, regs [4][]int) {
	var a [16][32]float64
	var b [32][8]float64
	per, below := 32/p.bits, p.rows/8
	k := mask(p.bits / 8)
	for step, at := range regs[2] {
		for lane, x := range w.rows[at] {
			g, first := lane/4, (4*step+lane%4)*per
			for e := range per {
				b[first+e][g] = p.b(x & k)
				x >>= p.bits
			}
		}
		for half, at := range regs[1][step*below:][:below] {
			for lane, x := range w.rows[at] {
				row, first := &a[lane/4+8*half], (4*step+lane%4)*per
				for e := range per {
					row[first+e] = p.a(x & k)
					x >>= p.bits
				}
			}
		}
	}
	for r := range p.rows {
		sums := p.sums(&a[r], &b)
		for col, sum := range sums {
			lane, i := 4*(r%8)+col/2, 2*(r/8)+col%2
			c := w.rows[regs[3][i]][lane]
			if p.floats {
				w.rows[regs[0][i]][lane] = bits32(float32(float64(math.Float32frombits(uint32(c))) + sum))
			} else {
				w.rows[regs[0][i]][lane] = uint64(uint32(c) + uint32(int32(int64(sum))))
			}
		}
	}
}

// sums are those of a row of A with each column of B, several in turns so that none
// waits for its last addition.
func (p *product) sums(a *[32]float64, b *[32][8]float64) (s [8]float64) {
	for half := 0; half < len(s); half += 4 {
		var s0, s1, s2, s3 float64
		for j, x := range a[:p.k] {
			y := (*[4]float64)(b[j][half:])
			s0 += x * y[0]
			s1 += x * y[1]
			s2 += x * y[2]
			s3 += x * y[3]
		}
		s[half], s[half+1], s[half+2], s[half+3] = s0, s1, s2, s3
	}
	return s
}

// shuffle decodes shfl.sync: what another lane holds, or the own value where
// there is none.
func (d *decoder) shuffle(x *instruction) (run, error) {
	if err := x.want(5); err != nil {
		return nil, err
	}
	way := map[string]func(lane, n int) int{
		"bfly": func(lane, n int) int { return lane ^ n },
		"down": func(lane, n int) int { return lane + n },
		"up":   func(lane, n int) int { return lane - n },
		"idx":  func(_, n int) int { return n },
	}
	if len(x.mods) != 3 || x.mods[0] != "sync" || way[x.mods[1]] == nil || x.mods[2] != "b32" {
		return nil, errors.New("only shfl.sync of b32")
	}
	if x.args[4] != "0xffffffff" && x.args[4] != "-1" {
		return nil, errors.New("only shuffles of all lanes")
	}
	if end := map[string]string{"up": "0"}[x.mods[1]]; x.args[3] != end && (end != "" || x.args[3] != "31") {
		return nil, errors.New("only shuffles of whole warps")
	}
	from, err := d.value(x.args[1], "b32")
	if err != nil {
		return nil, err
	}
	by, err := d.value(x.args[2], "u32")
	if err != nil {
		return nil, err
	}
	to, err := d.register(x.args[0], "b32")
	if err != nil {
		return nil, err
	}
	other := way[x.mods[1]]
	s := &step{source: x}
	return func(w *warp, m uint32) {
		if !w.together(s, m) {
			return
		}
		v := w.rows[from]
		n := w.rows[by]
		for lane := range lanes {
			if o := other(lane, int(n[lane])); o >= 0 && o < lanes {
				w.rows[to][lane] = v[o]
			} else {
				w.rows[to][lane] = v[lane]
			}
		}
	}, nil
}

// vote decodes vote.sync.all: whether a predicate holds in all lanes.
func (d *decoder) vote(x *instruction) (run, error) {
	if err := x.want(3); err != nil {
		return nil, err
	}
	if strings.Join(x.mods, ".") != "sync.all.pred" || x.args[2] != "0xffffffff" {
		return nil, errors.New("only vote.sync.all.pred of all lanes")
	}
	to, err := d.predicate(x.args[0])
	if err != nil {
		return nil, err
	}
	from, err := d.predicate(x.args[1])
	if err != nil {
		return nil, err
	}
	s := &step{source: x}
	return func(w *warp, m uint32) {
		if !w.together(s, m) {
			return
		}
		all := uint32(0)
		if w.preds[from] == ^uint32(0) {
			all = ^all
		}
		w.preds[to] = all
	}, nil
}
