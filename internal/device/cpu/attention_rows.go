package cpu

import (
	"fmt"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/schedule"
	"github.com/sinterml/sinter/internal/template"
)

// sequences tells where the rows of an attention's sequences are.
type sequences struct {
	count         int
	qLen, kLen    int // dense: of each
	queries, keys int // rows in all
	qFrom, kFrom  []int32
	known         bool // before the run: the offsets are no other kernel's result
	maskQ, maskK  int  // lengths that the mask has room for, -1 for any
}

// sequenceRows is where one sequence is: query rows q0 to q1, key rows k0 to k1.
type sequenceRows struct{ q0, q1, k0, k1 int }

func newSequences(t *template.Attention, r *binding) (*sequences, error) {
	s := &sequences{known: true, maskQ: -1, maskK: -1}
	dims := []struct {
		to *int
		of ir.Dim
	}{{&s.count, t.Batch}, {&s.queries, t.Queries}, {&s.keys, t.Keys}}
	if !t.Attr.Ragged {
		dims = append(dims, []struct {
			to *int
			of ir.Dim
		}{{&s.qLen, t.QLen}, {&s.kLen, t.KLen}}...)
	}
	if len(t.MaskShape) == 4 {
		for i, to := range []*int{&s.maskQ, &s.maskK} {
			if d := t.MaskShape[2+i]; !d.IsConst(1) {
				dims = append(dims, struct {
					to *int
					of ir.Dim
				}{to, d})
			}
		}
	}
	for _, d := range dims {
		var err error
		if *d.to, err = d.of.Eval(r.env); err != nil {
			return nil, err
		}
	}
	if t.Attr.Ragged {
		for _, o := range []struct {
			to    *[]int32
			param int
		}{{&s.qFrom, t.QOffsets}, {&s.kFrom, t.KOffsets}} {
			*o.to = unsafe.Slice((*int32)(r.ptrs[o.param]), s.count+1)
			s.known = s.known && r.module.plan.Buffers[r.kernel.Args[o.param]].Kind == schedule.LeafBuffer
		}
	}
	return s, nil
}

// of is the rows of a sequence. Offsets that leave the rows, or fall, are an
// error, as is a sequence longer than its mask.
func (s *sequences) of(seq int) (r sequenceRows, err error) {
	if s.qFrom == nil {
		return sequenceRows{seq * s.qLen, (seq + 1) * s.qLen, seq * s.kLen, (seq + 1) * s.kLen}, nil
	}
	for _, o := range []struct {
		offsets  []int32
		rows     int
		from, to *int
	}{{s.qFrom, s.queries, &r.q0, &r.q1}, {s.kFrom, s.keys, &r.k0, &r.k1}} {
		*o.from, *o.to = int(o.offsets[seq]), int(o.offsets[seq+1])
		at := seq
		if *o.from >= 0 && *o.from <= o.rows {
			at = seq + 1
		}
		if *o.from < 0 || *o.to < *o.from || *o.to > o.rows {
			return r, fmt.Errorf("offsets never fall and stay within the number of rows, %d: %w", o.rows,
				&device.IndexError{Op: ir.Attention.String(), Index: int64(o.offsets[at]), Size: o.rows, At: at})
		}
	}
	for _, m := range []struct{ rows, room int }{{r.q1 - r.q0, s.maskQ}, {r.k1 - r.k0, s.maskK}} {
		if m.room >= 0 && m.rows > m.room {
			return r, fmt.Errorf("sequence %d is longer than its mask: %w", seq,
				&device.IndexError{Op: "attention mask", Index: int64(m.rows - 1), Size: m.room, At: m.rows - 1})
		}
	}
	return r, nil
}

// longest is the most queries and keys that a sequence has, or may have where
// the offsets are not known yet.
func (s *sequences) longest() (queries, keys int, err error) {
	if s.qFrom == nil {
		return s.qLen, s.kLen, nil
	}
	if !s.known {
		return s.queries, s.keys, nil
	}
	for seq := range s.count {
		r, err := s.of(seq)
		if err != nil {
			return 0, 0, err
		}
		queries, keys = max(queries, r.q1-r.q0), max(keys, r.k1-r.k0)
	}
	return queries, keys, nil
}

// attentionLoops is an attention as loops, which believe what offsets say:
// they are checked first.
type attentionLoops struct {
	work  *template.Attention // or the one whose gradient it is
	loops kernel
}

func (k *attentionLoops) bind(r *binding) (jit.Step, error) {
	s, err := newSequences(k.work, r)
	if err != nil {
		return nil, err
	}
	step, err := k.loops.bind(r)
	if err != nil || !k.work.Attr.Ragged {
		return step, err
	}
	return &checkedLoops{Step: step, sequences: s, status: r.status}, nil
}

// checkedLoops checks all offsets in front of each task, tasks being few.
type checkedLoops struct {
	jit.Step
	sequences *sequences
	status    []int64
}

func (s *checkedLoops) flags() []int64 { return s.status }

func (s *checkedLoops) Do(worker, task int) error {
	for seq := range s.sequences.count {
		if _, err := s.sequences.of(seq); err != nil {
			return err
		}
	}
	return s.Step.Do(worker, task)
}
