package ptxsim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	from := &access{s: s, size: 16, rows: []int{0}}
	if from.base, from.offset, err = d.address(x.args[1], "u32"); err != nil {
		return nil, err
	}
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
	a, b    element
}

// operands are numbers of A, by rows, and B, by columns: of each, the first k.
type operands struct {
	a [16][32]float64
	b [8][32]float64
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
	p.bits, p.a, p.b = a.bits, a, b
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
// l/4, from both the values of k in the (l%4)th 32 bits of 128.
func (p *product) run(w *warp, regs [4][]int) {
	o := &w.b.operands
	per, below := 32/p.bits, p.rows/8
	for step, at := range regs[2] {
		for lane, x := range &w.rows[at] {
			p.b.values(uint32(x), o.b[lane/4][(4*step+lane%4)*per:])
		}
		for half, at := range regs[1][step*below:][:below] {
			for lane, x := range &w.rows[at] {
				p.a.values(uint32(x), o.a[lane/4+8*half][(4*step+lane%4)*per:])
			}
		}
	}
	sums := p.sums(o)
	for i, at := range regs[0] {
		p.add(&w.rows[at], &w.rows[regs[3][i]], &sums, i)
	}
}

// add writes the i-th register of D from that of C: lane l holds row l/4 (and 8
// below it) and columns 2*(l%4) and the next.
func (p *product) add(d, c *row, sums *[16][8]float64, i int) {
	below, odd := i/2*8, i%2
	for lane := range lanes {
		sum := sums[(lane/4+below)&15][2*(lane%4)+odd]
		if p.floats {
			d[lane] = bits32(float32(float64(f32(c[lane])) + sum))
		} else {
			d[lane] = uint64(uint32(c[lane]) + uint32(int32(int64(sum))))
		}
	}
}

// sums are those of each row of A with each column of B, several in turns so that
// none waits for its last addition.
func (p *product) sums(o *operands) (all [16][8]float64) {
	for r := range p.rows {
		a := o.a[r][:p.k]
		for col := 0; col < 8; col += 4 {
			b0, b1, b2, b3 := o.b[col][:len(a)], o.b[col+1][:len(a)], o.b[col+2][:len(a)], o.b[col+3][:len(a)]
			var s0, s1, s2, s3 float64
			for k, x := range a {
				s0 += x * b0[k]
				s1 += x * b1[k]
				s2 += x * b2[k]
				s3 += x * b3[k]
			}
			all[r][col], all[r][col+1], all[r][col+2], all[r][col+3] = s0, s1, s2, s3
		}
	}
	return all
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
