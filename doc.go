// Package sinter is a tensor compiler and runtime in plain Go.
//
// Operations on a Tensor record what to do; nothing runs until values are
// asked for. Values and Eval then take the whole graph, compile it once, and
// run it on the best device there is:
//
//	x := sinter.Of([]float32{1, 2, 3, 4}, 2, 2)
//	y, err := sinter.Values[float32](ctx, x.MatMul(x).Softmax(-1))
//
// Programs that run many times are made once: Input leaves holes, with sizes
// that may be symbols, Capture collects the graph, Compile turns it into a
// Program, and Program.Run fills the holes. One program serves every length.
//
// Operations broadcast as numpy's do, but never convert: operands of different
// dtypes are an error, and only a Scalar takes the dtype of what it meets.
// Errors stick to the tensors they concern and come back from what resolves
// them, with the file and line of the call. An optional operand is left out by
// giving the zero Tensor.
//
// What changes is a Variable: Assign gives it a new value, which is committed
// when a program with it among its outputs has run.
//
// Package embed turns texts into vectors by a model from a file, from the hub's
// cache or inside the binary. The folder docs says what operations mean
// (ops.md), how a graph becomes machine code (architecture.md) and why so
// (rationale.md); examples/encoder is a whole network by these names alone.
package sinter
