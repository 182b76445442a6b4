package sinter_test

import "github.com/sinterml/sinter"

// referenceAttrs are the attributes of all operators of ops.json.
type referenceAttrs struct {
	Axes, Before, After, Shape, Sizes, Starts, Stops, Steps []int
	Kernel, Stride, Padding, Dilation, Scale                []int
	OutputPadding                                           []int `json:"output_padding"`
	Axis, Depth, K, Groups, Shift, Correction               int
	Keepdim, Descending, Causal                             bool
	Min, Max, Eps, Slope, Value                             float64
	Equation, Reduction                                     string
	LabelSmoothing                                          float64 `json:"label_smoothing"`
	IgnoreIndex                                             *int    `json:"ignore_index"`
}

type tensor = sinter.Tensor

type buildFunc func(in []tensor, a referenceAttrs) []tensor

func unary(f func(tensor) tensor) buildFunc {
	return func(in []tensor, _ referenceAttrs) []tensor { return []tensor{f(in[0])} }
}

func binary2(f func(x, y tensor) tensor) buildFunc {
	return func(in []tensor, _ referenceAttrs) []tensor { return []tensor{f(in[0], in[1])} }
}

func one(f func(in []tensor, a referenceAttrs) tensor) buildFunc {
	return func(in []tensor, a referenceAttrs) []tensor { return []tensor{f(in, a)} }
}

// reduction picks the variant that keeps the axes.
func reduction(drop, keep func(x tensor, axes ...int) tensor) buildFunc {
	return one(func(in []tensor, a referenceAttrs) tensor {
		if a.Keepdim {
			return keep(in[0], a.Axes...)
		}
		return drop(in[0], a.Axes...)
	})
}

func corrected(drop, keep func(x tensor, correction int, axes ...int) tensor) buildFunc {
	return one(func(in []tensor, a referenceAttrs) tensor {
		if a.Keepdim {
			return keep(in[0], a.Correction, a.Axes...)
		}
		return drop(in[0], a.Correction, a.Axes...)
	})
}

func alongAxis(f func(x tensor, axis int) tensor) buildFunc {
	return one(func(in []tensor, a referenceAttrs) tensor { return f(in[0], a.Axis) })
}

// optional is operand i or none.
func optional(in []tensor, i int) tensor {
	if i < len(in) {
		return in[i]
	}
	return tensor{}
}

func convolution(f func(x, w tensor, o sinter.ConvOptions) tensor) buildFunc {
	return one(func(in []tensor, a referenceAttrs) tensor {
		return f(in[0], in[1], sinter.ConvOptions{Stride: a.Stride, Padding: a.Padding, Dilation: a.Dilation,
			Groups: a.Groups, OutputPadding: a.OutputPadding, Bias: optional(in, 2)})
	})
}

func pooling(f func(x tensor, o sinter.PoolOptions) tensor) buildFunc {
	return one(func(in []tensor, a referenceAttrs) tensor {
		return f(in[0], sinter.PoolOptions{Kernel: a.Kernel, Stride: a.Stride, Padding: a.Padding})
	})
}

func cast(dt sinter.DType) buildFunc {
	return unary(func(x tensor) tensor { return x.Cast(dt) })
}

var referenceOps = map[string]buildFunc{
	"abs": unary(tensor.Abs), "neg": unary(tensor.Neg), "sign": unary(tensor.Sign), "square": unary(tensor.Square),
	"sqrt": unary(tensor.Sqrt), "rsqrt": unary(tensor.Rsqrt), "reciprocal": unary(tensor.Reciprocal),
	"exp": unary(tensor.Exp), "exp2": unary(tensor.Exp2), "expm1": unary(tensor.Expm1),
	"log": unary(tensor.Log), "log2": unary(tensor.Log2), "log1p": unary(tensor.Log1p),
	"sin": unary(tensor.Sin), "cos": unary(tensor.Cos), "atan": unary(tensor.Atan),
	"sinh": unary(tensor.Sinh), "cosh": unary(tensor.Cosh), "tanh": unary(tensor.Tanh), "erf": unary(tensor.Erf),
	"floor": unary(tensor.Floor), "ceil": unary(tensor.Ceil), "trunc": unary(tensor.Trunc), "round": unary(tensor.Round),
	"relu": unary(tensor.ReLU), "sigmoid": unary(tensor.Sigmoid), "silu": unary(tensor.SiLU), "softplus": unary(tensor.Softplus),
	"mish": unary(tensor.Mish), "gelu": unary(tensor.GELU), "gelu_tanh": unary(tensor.GELUTanh),
	"hardsigmoid": unary(tensor.HardSigmoid), "hardswish": unary(tensor.HardSwish),
	"elu":        unary(func(x tensor) tensor { return x.ELU(1) }),
	"leaky_relu": one(func(in []tensor, a referenceAttrs) tensor { return in[0].LeakyReLU(a.Slope) }),
	"clamp":      one(func(in []tensor, a referenceAttrs) tensor { return in[0].Clamp(a.Min, a.Max) }),
	"cast_f16":   cast(sinter.F16), "cast_bf16": cast(sinter.BF16), "cast_i32": cast(sinter.I32),

	"add": binary2(tensor.Add), "sub": binary2(tensor.Sub), "mul": binary2(tensor.Mul), "div": binary2(tensor.Div),
	"pow": binary2(tensor.Pow), "minimum": binary2(tensor.Minimum), "maximum": binary2(tensor.Maximum),
	"idiv": binary2(tensor.FloorDiv), "mod": binary2(tensor.Mod),
	"less": binary2(tensor.Less), "equal": binary2(tensor.Equal), "greater_equal": binary2(tensor.GreaterEqual),
	"where": one(func(in []tensor, _ referenceAttrs) tensor { return sinter.Where(in[0].Cast(sinter.Bool), in[1], in[2]) }),

	"sum": reduction(tensor.Sum, tensor.SumKeep), "prod": reduction(tensor.Prod, tensor.ProdKeep),
	"mean": reduction(tensor.Mean, tensor.MeanKeep), "amax": reduction(tensor.Max, tensor.MaxKeep),
	"amin": reduction(tensor.Min, tensor.MinKeep), "logsumexp": reduction(tensor.LogSumExp, tensor.LogSumExpKeep),
	"var": corrected(tensor.Var, tensor.VarKeep), "std": corrected(tensor.Std, tensor.StdKeep),
	"argmax": alongAxis(tensor.ArgMax), "argmin": alongAxis(tensor.ArgMin),
	"softmax": alongAxis(tensor.Softmax), "log_softmax": alongAxis(tensor.LogSoftmax),
	"cumsum": alongAxis(tensor.CumSum), "cumprod": alongAxis(tensor.CumProd),

	"reshape": one(func(in []tensor, a referenceAttrs) tensor { return in[0].Reshape(a.Shape...) }),
	"permute": one(func(in []tensor, a referenceAttrs) tensor { return in[0].Permute(a.Axes...) }),
	"expand":  one(func(in []tensor, a referenceAttrs) tensor { return in[0].Expand(a.Shape...) }),
	"flip":    one(func(in []tensor, a referenceAttrs) tensor { return in[0].Flip(a.Axes...) }),
	"pad":     one(func(in []tensor, a referenceAttrs) tensor { return in[0].Pad(a.Before, a.After, a.Value) }),
	"roll":    one(func(in []tensor, a referenceAttrs) tensor { return in[0].Roll(a.Shift, a.Axis) }),
	"concat":  one(func(in []tensor, a referenceAttrs) tensor { return sinter.Concat(a.Axis, in...) }),
	"stack":   one(func(in []tensor, a referenceAttrs) tensor { return sinter.Stack(a.Axis, in...) }),
	"split":   func(in []tensor, a referenceAttrs) []tensor { return in[0].Split(a.Axis, a.Sizes...) },
	"slice": one(func(in []tensor, a referenceAttrs) tensor {
		var ranges []sinter.Range
		for i := range a.Starts {
			ranges = append(ranges, sinter.Range{Start: a.Starts[i], Stop: a.Stops[i], Step: a.Steps[i]})
		}
		return in[0].Slice(ranges...)
	}),
	"tril": unary(func(x tensor) tensor { return x.Tril(0) }), "triu": unary(func(x tensor) tensor { return x.Triu(0) }),

	"gather_rows": binary2(func(x, index tensor) tensor { return x.Take(index, 0) }),
	"take_along":  one(func(in []tensor, a referenceAttrs) tensor { return in[0].TakeAlong(in[1], a.Axis) }),
	"scatter_add": one(func(in []tensor, a referenceAttrs) tensor { return sinter.ScatterAdd(in[0], a.Axis, in[1], in[2]) }),
	"index_add":   one(func(in []tensor, a referenceAttrs) tensor { return sinter.IndexAdd(in[0], a.Axis, in[1], in[2]) }),
	"one_hot":     one(func(in []tensor, a referenceAttrs) tensor { return sinter.OneHot(in[0], a.Depth) }),
	"sort": func(in []tensor, a referenceAttrs) []tensor {
		values, indices := in[0].Sort(a.Axis, a.Descending)
		return []tensor{values, indices}
	},
	"topk": func(in []tensor, a referenceAttrs) []tensor {
		values, indices := in[0].TopK(a.K, a.Axis)
		return []tensor{values, indices}
	},

	"matmul": binary2(tensor.MatMul),
	"linear": one(func(in []tensor, _ referenceAttrs) tensor { return sinter.Linear(in[0], in[1], optional(in, 2)) }),
	"einsum": one(func(in []tensor, a referenceAttrs) tensor { return sinter.Einsum(a.Equation, in...) }),
	"conv1d": convolution(sinter.Conv), "conv2d": convolution(sinter.Conv), "conv3d": convolution(sinter.Conv),
	"conv_transpose2d": convolution(sinter.ConvTranspose),
	"max_pool2d":       pooling(sinter.MaxPool), "avg_pool2d": pooling(sinter.AvgPool),
	"upsample_nearest2d": one(func(in []tensor, a referenceAttrs) tensor { return sinter.Upsample(in[0], a.Scale...) }),

	"layer_norm": one(func(in []tensor, a referenceAttrs) tensor {
		return sinter.LayerNorm(in[0], optional(in, 1), optional(in, 2), a.Eps)
	}),
	"rms_norm": one(func(in []tensor, a referenceAttrs) tensor { return sinter.RMSNorm(in[0], optional(in, 1), a.Eps) }),
	"group_norm": one(func(in []tensor, a referenceAttrs) tensor {
		return sinter.GroupNorm(in[0], a.Groups, optional(in, 1), optional(in, 2), a.Eps)
	}),
	"batch_norm": one(func(in []tensor, a referenceAttrs) tensor {
		y, _, _ := sinter.BatchNormTrain(in[0], optional(in, 1), optional(in, 2), a.Eps)
		return y
	}),

	"attention": one(func(in []tensor, a referenceAttrs) tensor {
		y, _ := sinter.Attention(in[0], in[1], in[2], sinter.AttentionOptions{Causal: a.Causal})
		return y
	}),
	"attention_mask": one(func(in []tensor, _ referenceAttrs) tensor {
		y, _ := sinter.Attention(in[0], in[1], in[2], sinter.AttentionOptions{Mask: in[3]})
		return y
	}),

	"mse": binary2(sinter.MSE), "l1": binary2(sinter.L1), "bce_with_logits": binary2(sinter.BCEWithLogits),
	"huber": binary2(func(x, y tensor) tensor { return sinter.Huber(x, y, 1) }),
	"cross_entropy": one(func(in []tensor, a referenceAttrs) tensor {
		return sinter.CrossEntropy(in[0], in[1], sinter.CrossEntropyOptions{LabelSmoothing: a.LabelSmoothing, IgnoreIndex: a.IgnoreIndex})
	}),
	"lstm": func(in []tensor, _ referenceAttrs) []tensor {
		ys, h, c := sinter.LSTM(in[0], in[1], in[2], sinter.LSTMOptions{InputBias: in[3], HiddenBias: in[4]})
		return []tensor{ys, h, c}
	},
}
