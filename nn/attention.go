package nn

import (
	"math"

	"github.com/sinterml/sinter"
)

// MultiHeadAttention is attention between projections of its inputs. Its
// weights are named as those of torch.nn.MultiheadAttention: one in_proj for
// queries, keys and values, or with Separate q_proj, k_proj and v_proj.
type MultiHeadAttention struct {
	Width, Heads int
	KVHeads      int  // heads of keys and values, which Heads/KVHeads of queries share; 0: Heads
	Separate     bool // projections of their own
	NoBias       bool
	Causal       bool    // place i sees places up to i
	Window       int     // places that a query sees up to its own and, unless Causal, from its own on; 0: all
	Dropout      float64 // of the weights of attention, in training
	Rotary       *Rotary // positions in queries and keys; nil: none

	InWeight *sinter.Variable `weight:"in_proj_weight"` // [(Heads + 2 KVHeads) width of a head, Width]
	InBias   *sinter.Variable `weight:"in_proj_bias"`   // [(Heads + 2 KVHeads) width of a head]
	Q        *Linear          `weight:"q_proj"`         // these three if Separate
	K        *Linear          `weight:"k_proj"`
	V        *Linear          `weight:"v_proj"`
	Out      Linear           `weight:"out_proj"`

	path string
}

// Make is for Init.
func (a *MultiHeadAttention) Make(b *Builder) error {
	a.path = b.Path()
	if err := a.check(); err != nil {
		return err
	}
	head, kv := a.Width/a.Heads, a.keyHeads()*a.Width/a.Heads
	a.Out.In, a.Out.Out, a.Out.NoBias, a.Out.zeroBias = a.Width, a.Width, a.NoBias, true
	if !a.Separate {
		b.Variable(&a.InWeight, XavierUniform(1), a.Heads*head+2*kv, a.Width)
		b.optional(!a.NoBias, &a.InBias, Constant(0), a.Heads*head+2*kv)
		return nil
	}
	for at, out := range map[**Linear]int{&a.Q: a.Width, &a.K: kv, &a.V: kv} {
		if *at == nil {
			*at = &Linear{In: a.Width, Out: out, NoBias: a.NoBias}
		}
	}
	return nil
}

func (a *MultiHeadAttention) check() error {
	if err := checkSizes(size{"Width", a.Width}, size{"Heads", a.Heads}, size{"KVHeads", a.keyHeads()}); err != nil {
		return err
	}
	if a.Width%a.Heads != 0 || a.Heads%a.keyHeads() != 0 {
		return errHeads
	}
	if a.Width > maxSize/4 {
		return errWidth
	}
	return checkDropout(a.Dropout)
}

func (a *MultiHeadAttention) keyHeads() int {
	if a.KVHeads == 0 {
		return a.Heads
	}
	return a.KVHeads
}

// AttentionInput is what a call of attention may have beside its queries. The
// zero value is attention of a sequence to itself. The zero Tensor is none.
type AttentionInput struct {
	Key, Value sinter.Tensor // Key: as the queries; Value: as Key
	// Mask is added to the scores: broadcast to [batch, heads, queries, keys].
	Mask sinter.Tensor
	// With offsets (I32 [sequences+1], a leaf) queries are [rows, Width], keys and
	// values too, sequences one after another: sequence i is rows Offsets[i] up to
	// Offsets[i+1]. KeyOffsets: as Offsets.
	Offsets, KeyOffsets sinter.Tensor
	// Places of queries and keys, integers [places], for Rotary; absent: 0, 1, ...
	// in each sequence.
	Places, KeyPlaces sinter.Tensor
}

// Forward is attention of x [batch, places, Width] to itself.
func (a *MultiHeadAttention) Forward(x sinter.Tensor, m *Mode) sinter.Tensor {
	return a.Attend(x, AttentionInput{}, m)
}

// Attend is attention of x [batch, places, Width] to what the input says.
func (a *MultiHeadAttention) Attend(x sinter.Tensor, in AttentionInput, m *Mode) sinter.Tensor {
	at := layer{"MultiHeadAttention", a.path}
	in = in.complete(x)
	operands := []sinter.Tensor{x, in.Key, in.Value}
	if failed(operands) {
		return at.named(sinter.Concat(0, operands...), operands...)
	}
	if err := a.check(); err != nil {
		return at.fail(err, operands...)
	}
	rank := 3
	if given(in.Offsets) {
		rank = 2
	}
	for _, t := range operands {
		if t.Rank() != rank || !t.Dim(-1).IsConst(a.Width) {
			return at.failf(operands, "want [batch, places, %d], or [rows, %d] with offsets", a.Width, a.Width)
		}
	}
	q, k, v := a.project(x, in)
	if a.Rotary != nil {
		q, k = a.rotate(q, in.Places), a.rotate(k, in.KeyPlaces)
	}
	var y sinter.Tensor
	switch {
	case a.Dropout > 0 && m.training() && rank == 2:
		return at.failf(operands, "with offsets no weights of attention can be dropped: set Dropout of the attention to 0")
	case a.Dropout > 0 && m.training():
		y = a.dropping(heads(q), heads(k), heads(v), in.Mask, m).Transpose(1, 2)
	case rank == 2:
		y, _ = sinter.Attention(q, k, v, a.options(in))
	default:
		y, _ = sinter.Attention(heads(q), heads(k), heads(v), a.options(in))
		y = y.Transpose(1, 2)
	}
	return at.named(a.Out.Forward(y.ReshapeDims(x.Shape()...)), operands...)
}

func (a *MultiHeadAttention) options(in AttentionInput) sinter.AttentionOptions {
	return sinter.AttentionOptions{Causal: a.Causal, Window: a.Window, Mask: in.Mask, QOffsets: in.Offsets, KOffsets: in.KeyOffsets}
}

// complete puts in what is meant by fields left empty, for queries x.
func (in AttentionInput) complete(x sinter.Tensor) AttentionInput {
	if given(in.Offsets) && !given(in.KeyOffsets) {
		in.KeyOffsets = in.Offsets
	}
	if given(in.Offsets) && !given(in.Places) {
		in.Places = sinter.Positions(in.Offsets)
	}
	if given(in.KeyOffsets) && !given(in.KeyPlaces) {
		in.KeyPlaces = sinter.Positions(in.KeyOffsets)
	}
	if !given(in.Key) {
		in.Key = x
		if !given(in.KeyPlaces) {
			in.KeyPlaces = in.Places
		}
	}
	if !given(in.Value) {
		in.Value = in.Key
	}
	return in
}

// heads turns [batch, places, heads, width] into [batch, heads, places, width].
func heads(x sinter.Tensor) sinter.Tensor { return x.Transpose(1, 2) }

// rotate turns x [..., places, heads, width] by its places.
func (a *MultiHeadAttention) rotate(x, places sinter.Tensor) sinter.Tensor {
	return a.Rotary.Rotate(x.Transpose(-2, -3), places).Transpose(-2, -3)
}

// project gives queries, keys and values: [..., places, heads, width of a head].
func (a *MultiHeadAttention) project(x sinter.Tensor, in AttentionInput) (q, k, v sinter.Tensor) {
	head, heads, kv := a.Width/a.Heads, a.Heads, a.keyHeads()
	parts := []int{heads * head, kv * head, kv * head}
	split := func(y sinter.Tensor, heads int) sinter.Tensor {
		if y.Err() != nil {
			return y
		}
		return y.ReshapeDims(append(y.Shape()[:y.Rank()-1], sinter.N(heads), sinter.N(head))...)
	}
	if a.Separate {
		if a.Q == nil || a.K == nil || a.V == nil {
			bad := sinter.Fail(errNoWeights)
			return bad, bad, bad
		}
		return split(a.Q.Forward(x), heads), split(a.K.Forward(in.Key), kv), split(a.V.Forward(in.Value), kv)
	}
	weight, bias := read(a.InWeight), readIf(!a.NoBias, a.InBias)
	if x == in.Key && x == in.Value {
		all := sinter.Linear(x, weight, bias).Split(-1, parts...)
		if len(all) < 3 {
			return all[0], all[0], all[0]
		}
		return split(all[0], heads), split(all[1], kv), split(all[2], kv)
	}
	var out [3]sinter.Tensor
	from := 0
	for i, t := range []sinter.Tensor{x, in.Key, in.Value} {
		rows := func(w sinter.Tensor) sinter.Tensor { return w.Narrow(0, sinter.N(from), sinter.N(parts[i])) }
		b := sinter.Tensor{}
		if given(bias) {
			b = rows(bias)
		}
		out[i] = sinter.Linear(t, rows(weight), b)
		from += parts[i]
	}
	return split(out[0], heads), split(out[1], kv), split(out[2], kv)
}

// dropping is attention by its definition, whose weights are dropped in part.
func (a *MultiHeadAttention) dropping(q, k, v, mask sinter.Tensor, m *Mode) sinter.Tensor {
	if share := a.Heads / a.keyHeads(); share > 1 {
		k, v = k.Repeat(1, share), v.Repeat(1, share)
	}
	scores := q.MatMul(k.Transpose(-1, -2)).Mul(sinter.Scalar(1 / math.Sqrt(float64(a.Width/a.Heads))))
	if given(mask) {
		scores = scores.Add(mask)
	}
	if a.Causal || a.Window > 0 {
		queries, keys := q.Dim(2), k.Dim(2)
		// By how far the key stands before the last that a causal query sees.
		ends := sinter.Iota(sinter.I64, 0, queries, keys).Add(sinter.Ones(sinter.I64, keys).Sum()).Sub(sinter.Ones(sinter.I64, queries).Sum())
		back := ends.Sub(sinter.Iota(sinter.I64, 1, queries, keys))
		sees := sinter.Ones(sinter.Bool, queries, keys)
		if a.Causal {
			sees = back.GreaterEqual(sinter.Scalar(0))
		}
		if a.Window > 0 {
			window := sinter.Scalar(float64(a.Window))
			sees = sees.And(back.Less(window)).And(back.Neg().Less(window))
		}
		scores = sinter.Where(sees, scores, sinter.Scalar(math.Inf(-1)))
	}
	return Dropout{P: a.Dropout}.Forward(shares(scores), m).MatMul(v)
}

// shares is a softmax along the last axis, 0 where all scores are -Inf.
func shares(scores sinter.Tensor) sinter.Tensor {
	most := scores.MaxKeep(-1).Detach()
	blind := most.Equal(sinter.Scalar(math.Inf(-1)))
	e := scores.Sub(sinter.Where(blind, sinter.Scalar(0), most)).Exp()
	return e.Mul(sinter.Where(blind, sinter.Scalar(1), e.SumKeep(-1)).Reciprocal())
}
