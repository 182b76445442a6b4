package train

import (
	"fmt"
	"slices"

	"github.com/sinterml/sinter"
)

// Metric is a number about all batches of an evaluation: what a program sums up
// for each batch is added, and turned into the number at the end.
type Metric struct {
	Name string
	// Sums is what a batch adds, of any static shape.
	Sums sinter.Tensor
	// Value makes the number of all sums; nil: the first of them.
	Value func(sums []float64) float64

	confusion bool // the sums are the counts of a Confusion
}

// Mean is the average of all elements of x, such as the losses of single rows.
func Mean(name string, x sinter.Tensor) Metric {
	if x.Err() != nil {
		return Metric{Name: name, Sums: x}
	}
	// A batch is summed in F32 where x is that, as kernels are fast in it; what
	// grows from batch to batch is added in F64.
	if x.DType() != sinter.F32 {
		x = x.Cast(sinter.F64)
	}
	count := sinter.Full(sinter.F64, 1, x.Shape()...).Sum()
	return Metric{Name: name, Sums: sinter.Stack(0, x.Sum().Cast(sinter.F64), count), Value: ratio}
}

// ratio is the first of two sums as a share of the second.
func ratio(sums []float64) float64 { return sums[0] / sums[1] }

// Accuracy is the share of rows whose greatest logit, of [..., classes], is that
// of the label [...].
func Accuracy(name string, logits, labels sinter.Tensor) Metric {
	found := logits.ArgMax(-1)
	if found.Err() == nil && labels.Err() == nil && !slices.EqualFunc(found.Shape(), labels.Shape(), sinter.Dim.Equal) {
		err := fmt.Errorf("train: metric %s: rows %v of logits and labels %v: want one label for each row", name, found.Shape(), labels.Shape())
		return Metric{Name: name, Sums: sinter.Fail(err, logits, labels)}
	}
	return Mean(name, found.Equal(labels.Cast(sinter.I64)).Cast(sinter.F32))
}

// F1 is the unweighted mean of the classes' F1 scores, 2PR/(P+R) of precision P
// and recall R, counting classes that have no rows and are never found as 0.
func F1(name string, logits, labels sinter.Tensor, classes int) Metric {
	m := ConfusionMatrix(name, logits, labels, classes)
	m.Value = func(sums []float64) float64 { return confusionOf(sums).MacroF1() }
	return m
}

// ConfusionMatrix counts rows by their label and by the class that is found. Its
// value is the accuracy; Scores.Confusion gives the counts.
func ConfusionMatrix(name string, logits, labels sinter.Tensor, classes int) Metric {
	if classes < 1 || classes > 1<<12 {
		err := fmt.Errorf("train: metric %s: a confusion matrix of %d classes", name, classes)
		return Metric{Name: name, Sums: sinter.Fail(err, logits, labels)}
	}
	if shape := logits.Shape(); logits.Err() == nil && (len(shape) == 0 || !shape[len(shape)-1].Equal(sinter.N(classes))) {
		err := fmt.Errorf("train: metric %s: want logits of %d classes", name, classes)
		return Metric{Name: name, Sums: sinter.Fail(err, logits)}
	}
	found, right := logits.ArgMax(-1).Reshape(-1), labels.Cast(sinter.I64).Reshape(-1)
	if found.Err() == nil && right.Err() == nil && !found.Dim(0).Equal(right.Dim(0)) {
		err := fmt.Errorf("train: metric %s: %v rows of logits and %v labels", name, found.Dim(0), right.Dim(0))
		return Metric{Name: name, Sums: sinter.Fail(err, logits, labels)}
	}
	place := right.Mul(sinter.Scalar(float64(classes))).Add(found)
	if place.Err() != nil {
		return Metric{Name: name, Sums: place}
	}
	cells := sinter.Zeros(sinter.F32, sinter.N(classes*classes))
	counts := sinter.IndexAdd(cells, 0, place, sinter.Full(sinter.F32, 1, place.Shape()...))
	return Metric{Name: name, Sums: counts, confusion: true, Value: func(sums []float64) float64 { return confusionOf(sums).Accuracy() }}
}
