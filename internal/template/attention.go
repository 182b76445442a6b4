package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Attention computes for every query row and head the softmax of its scores
// over the keys it may see, times the values, without ever holding all scores.
// In the format BF16 the weights, exp(score - top), are rounded to bf16 before
// they are summed and multiply the values: a mean with slightly other weights,
// not one that is too large or too small.
//
// Ragged: Queries and Keys count packed rows; sequence b holds query rows
// QOffsets[b] to QOffsets[b+1] and key rows KOffsets[b] to KOffsets[b+1].
// Dense: there are Batch sequences of QLen queries and KLen keys, and a row
// is batch*QLen + i (batch*KLen + j for keys).
type Attention struct {
	Name   string
	Params []loop.Param
	Slots  int

	Attr           ir.AttentionAttr
	DType          ir.DType // of the result, of q, k and v too unless Narrow made t
	TF32           bool     // units for matrices may round operands of f32, and weights, to TF32
	Heads, KVHeads int      // query head h reads key head h / (Heads/KVHeads)
	Width, VWidth  int      // of q and k, of v
	Batch          ir.Dim
	QLen, KLen     ir.Dim // dense: of each sequence
	Queries, Keys  ir.Dim // rows in all

	QOffsets, KOffsets int // ragged: params, i32 [Batch+1]

	// Operands as functions of (Row, Head, Lane): a row among all, a head
	// (query heads for Q, key heads for K and V) and an index in the width.
	Row, Head, Lane *loop.Var
	Q, K, V         *loop.Expr
	// Mask as a function of (Seq, Head, I, J): positions in the sequence.
	Seq, I, J *loop.Var
	Mask      *loop.Expr // nil: none
	MaskShape ir.Shape   // [batch, heads, queries, keys], 1 where the mask is the same for all

	// Epilogue runs at (Row, Head, Lane) with the result in Acc; Sums runs at
	// (Row, Head) with the logsumexp in LSE, and is nil where nobody asks.
	Acc, LSE *loop.Local
	Epilogue []loop.Stmt
	Sums     []loop.Stmt
}
