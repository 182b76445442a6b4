package train

import (
	"context"
	"fmt"
	"testing"

	"github.com/sinterml/sinter"
)

func TestConfusion(t *testing.T) {
	c := Confusion{{8, 2, 0}, {1, 0, 0}, {0, 0, 0}}
	if c.Total() != 11 || c.Accuracy() != 8.0/11 || fmt.Sprint(c.F1()) != fmt.Sprint([]float64{16.0 / 19, 0, 0}) {
		t.Error(c.Total(), c.Accuracy(), c.F1())
	}
	want := "     0   1   2 \n 0   8▓  2░  0 \n 1   1█  0   0 \n 2   0   0   0 \n"
	if c.String() != want {
		t.Errorf("drawn as\n%swant\n%s", c, want)
	}
}

// Labels that are no class are an error, not another cell.
func TestConfusionRefusesLabels(t *testing.T) {
	for _, label := range []int64{-1, 3} {
		e, err := NewEvaluator([]Metric{ConfusionMatrix("c", sinter.Zeros(sinter.F32, sinter.Dims(1, 3)...), sinter.Input("y", sinter.I64, sinter.N(1)), 3)}, sinter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s, err := e.Run(context.Background(), Batches{Rows: Table{"y": Column([]int64{label})}}); err == nil {
			t.Errorf("label %d: %v", label, s.Values())
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMetricsRefuseOtherRows(t *testing.T) {
	logits := sinter.Zeros(sinter.F32, sinter.Dims(3, 2)...)
	for _, shape := range [][]int{{1}, {3, 1}, {2}} {
		labels := sinter.Zeros(sinter.I64, sinter.Dims(shape...)...)
		metrics := []Metric{Accuracy("accuracy", logits, labels)}
		if len(shape) == 1 { // else as many labels in another shape
			metrics = append(metrics, ConfusionMatrix("confusion", logits, labels, 2), F1("f1", logits, labels, 2))
		}
		for _, m := range metrics {
			if m.Sums.Err() == nil {
				t.Errorf("%s takes labels %v", m.Name, shape)
			}
		}
	}
}

// Only what counts rows by class has a Confusion, of one class too.
func TestWhichMetricsHaveAConfusion(t *testing.T) {
	labels := sinter.Input("y", sinter.I64, sinter.N(3))
	e, err := NewEvaluator([]Metric{{Name: "four sums", Sums: sinter.Ones(sinter.F32, sinter.N(4))}, ConfusionMatrix("one class", sinter.Zeros(sinter.F32, sinter.Dims(3, 1)...), labels, 1)}, sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.Run(context.Background(), Batches{Rows: Table{"y": Column([]int64{0, 0, 0})}})
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Confusion("four sums"); c != nil {
		t.Errorf("four sums are the counts\n%v", c)
	}
	if c := s.Confusion("one class"); c.Total() != 3 {
		t.Errorf("of one class:\n%v", c)
	}
}
