package interp

import (
	"math"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// sequence is one sequence's part of an attention: where its rows lie in q and
// in k and v.
type sequence struct {
	batch        int // index into the mask's first axis
	qStart, qLen int
	kStart, kLen int
	qStep, kStep int // rows of q (of k) that separate neighbours of one head
	qHead, kHead int // rows that separate heads
}

// attentionCase is an attention with its sizes known. Rows are counted over
// all leading axes of q, k and v.
type attentionCase struct {
	*ir.AttentionAttr
	sequences     []sequence
	heads, repeat int // query heads, and how many of them share a key head
	width, vWidth int
	q, k, v       []float64
	mask          []float64
	maskShape     []int
	maskStep      []int // 0 along axes that are broadcast
}

func newAttention(c *call) (*attentionCase, error) {
	q, k, v := c.in[0], c.in[1], c.in[2]
	a := &attentionCase{AttentionAttr: c.Attr.Attention, q: q.float64s(), k: k.float64s(), v: v.float64s()}
	r := len(q.shape)
	a.heads, a.width, a.vWidth = q.shape[1], q.shape[r-1], v.shape[r-1]
	if kv := k.shape[1]; kv > 0 {
		a.repeat = a.heads / kv
	}
	if a.Ragged {
		if err := a.ragged(c); err != nil {
			return nil, err
		}
	} else {
		t, s := q.shape[2], k.shape[2]
		for b := range q.shape[0] {
			a.sequences = append(a.sequences, sequence{batch: b, qLen: t, kLen: s, qStep: 1, kStep: 1,
				qStart: b * a.heads * t, kStart: b * k.shape[1] * s, qHead: t, kHead: s})
		}
	}
	if a.Mask {
		last := len(c.in) - 1
		if c.Op == ir.AttentionGrad {
			last -= ir.GradOperands
		}
		m := c.in[last]
		a.mask, a.maskShape, a.maskStep = m.float64s(), m.shape, strides(m.shape)
		for i, d := range c.In[last].Shape {
			if d.IsConst(1) {
				a.maskStep[i] = 0
			}
		}
	}
	return a, nil
}

func (a *attentionCase) ragged(c *call) error {
	q, k := c.in[0], c.in[1]
	qo, err := checkOffsets(c.Op, c.in[3], q.shape[0])
	if err != nil {
		return err
	}
	ko, err := checkOffsets(c.Op, c.in[4], k.shape[0])
	if err != nil {
		return err
	}
	for b := range len(qo) - 1 {
		a.sequences = append(a.sequences, sequence{batch: b, qHead: 1, kHead: 1, qStep: q.shape[1], kStep: k.shape[1],
			qStart: int(qo[b]) * q.shape[1], qLen: int(qo[b+1] - qo[b]),
			kStart: int(ko[b]) * k.shape[1], kLen: int(ko[b+1] - ko[b])})
	}
	return nil
}

// keys is the range of keys that query i of a sequence sees. Queries and keys
// are aligned at their ends: the query's own position among the keys is
// i + kLen - qLen. A window counts the keys up to it, and where the attention
// is not causal as many after it.
func (a *attentionCase) keys(s sequence, i int) (from, to int) {
	own := i + s.kLen - s.qLen
	to = s.kLen
	if a.Causal {
		to = own + 1
	}
	if a.Window > 0 {
		from, to = own-a.Window+1, min(to, own+a.Window)
	}
	return max(from, 0), max(to, 0)
}

// maskAt is the flat position in the mask for a query and a key by position in
// their sequence.
func (a *attentionCase) maskAt(batch, head, i, j int) (int, error) {
	at := 0
	for ax, x := range [4]int{batch, head, i, j} {
		if a.maskStep[ax] != 0 && x >= a.maskShape[ax] {
			return 0, &device.IndexError{Op: "attention mask", Index: int64(x), Size: a.maskShape[ax], At: i}
		}
		at += x * a.maskStep[ax]
	}
	return at, nil
}

// each calls f for every query row of every head: row numbers q's rows, key
// gives the row of key j.
func (a *attentionCase) each(f func(s sequence, head, i, row int, key func(j int) int) error) error {
	for _, s := range a.sequences {
		for h := range a.heads {
			key := func(j int) int { return s.kStart + h/a.repeat*s.kHead + j*s.kStep }
			for i := range s.qLen {
				if err := f(s, h, i, s.qStart+h*s.qHead+i*s.qStep, key); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// score is the logit of a query row and a key row, the mask left out.
func (a *attentionCase) score(q, k int) float64 {
	s := a.Scale * dotProduct(a.q[q*a.width:][:a.width], a.k[k*a.width:][:a.width])
	if a.SoftCap != 0 {
		s = a.SoftCap * math.Tanh(s/a.SoftCap)
	}
	return s
}

func dotProduct(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// attention computes each row in float64 and rounds once. A row without keys,
// or whose scores are all -Inf, gives 0 and -Inf.
func attention(c *call) error {
	a, err := newAttention(c)
	if err != nil {
		return err
	}
	var scores []float64
	out := make([]float64, a.vWidth)
	return a.each(func(s sequence, head, i, row int, key func(int) int) error {
		scores = scores[:0]
		top := math.Inf(-1)
		from, to := a.keys(s, i)
		for j := from; j < to; j++ {
			score := a.score(row, key(j))
			if a.Mask {
				at, err := a.maskAt(s.batch, head, i, j)
				if err != nil {
					return err
				}
				score += a.mask[at]
			}
			scores = append(scores, score)
			top = max(top, score)
		}
		clear(out)
		lse := math.Inf(-1)
		if !math.IsInf(top, -1) {
			total := 0.0
			for j, score := range scores {
				p := math.Exp(score - top)
				total += p
				for d, v := range a.v[key(from+j)*a.vWidth:][:a.vWidth] {
					out[d] += float64(p * v)
				}
			}
			for d := range out {
				out[d] /= total
			}
			lse = top + math.Log(total)
		}
		store(c.out[0], row*a.vWidth, out...)
		store(c.out[1], row, lse)
		return nil
	})
}

// store rounds values into an f32 or f64 tensor.
func store(v *value, at int, values ...float64) {
	if v.t == ir.F64 {
		copy(view[float64](v)[at:], values)
		return
	}
	convert(view[float32](v)[at:][:len(values)], values)
}
