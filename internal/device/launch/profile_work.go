package launch

import (
	"encoding/binary"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
	"github.com/sinterml/sinter/internal/template"
)

// work fills in what a kernel had to do and to move in a run that has ended.
func (s *session) work(run *device.KernelRun) {
	k := s.module.plan.Kernels[run.Number]
	c, err := k.Cost(s.env)
	if err != nil {
		return
	}
	run.Products, run.Operations, run.Format, run.Read, run.Written = c.Products, c.Operations, c.Format, c.Read, c.Written
	switch w := k.Work.(type) {
	case *template.Gemm:
		run.Format = formatOf(run.Format, w.TF32, w.X, w.Y)
	case *template.Attention:
		run.Products = 2 * float64(w.Heads) * float64(w.Width+w.VWidth) * s.pairs(k, w)
		run.Format = formatOf(w.Format().String(), w.TF32, w.Q, w.K)
	case *template.AttentionGrad:
		run.Products = 2 * float64(w.Heads) * float64(3*w.Width+2*w.VWidth) * s.pairs(k, &w.Attention)
		run.Format = template.Single.String()
	}
}

// formatOf names the format of a product as units for matrices tell formats apart.
func formatOf(format string, tf32 bool, x, y *loop.Expr) string {
	half := func(e *loop.Expr) bool {
		return e.Kind == loop.KindApply && e.Op == ir.Cast && e.Args[0].DType == ir.F16
	}
	switch {
	case tf32:
		return "tf32"
	case half(x) && half(y):
		return "f16"
	}
	return format
}

// pairs are those of a query and a key that it sees; 0 where that is not known any
// more.
func (s *session) pairs(k *schedule.Kernel, t *template.Attention) float64 {
	if !t.Attr.Ragged {
		var n [3]int
		for i, d := range []ir.Dim{t.Batch, t.QLen, t.KLen} {
			var err error
			if n[i], err = d.Eval(s.env); err != nil {
				return 0
			}
		}
		return float64(n[0]) * seen(&t.Attr, n[1], n[2])
	}
	queries, keys := s.offsets(k, t.QOffsets), s.offsets(k, t.KOffsets)
	sum := 0.0
	for i := 1; i < min(len(queries), len(keys)); i++ {
		sum += seen(&t.Attr, int(queries[i])-int(queries[i-1]), int(keys[i])-int(keys[i-1]))
	}
	return sum
}

// seen are the pairs of a sequence.
func seen(a *ir.AttentionAttr, queries, keys int) (pairs float64) {
	for i := range max(queries, 0) {
		own := i + keys - queries // the key of the query's own position
		from, to := 0, keys
		if a.Causal {
			to = own + 1
		}
		if a.Window > 0 {
			from, to = max(0, own+1-a.Window), min(to, own+a.Window)
		}
		pairs += float64(max(min(to, keys)-from, 0))
	}
	return pairs
}

// offsets reads those that a kernel was given; nil where their memory is another
// kernel's by now.
func (s *session) offsets(k *schedule.Kernel, param int) []int32 {
	n := k.Args[param]
	if s.module.plan.Buffers[n].Kind != schedule.LeafBuffer {
		return nil
	}
	at := s.places[n]
	data := make([]byte, at.size)
	if at.buffer != nil && at.buffer.host != nil {
		data = at.buffer.host
	} else if err := s.module.device.backend.Read(data, at.mem, at.offset); err != nil {
		return nil
	}
	all := make([]int32, len(data)/4)
	for i := range all {
		all[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return all
}
