package temporal

import (
	"context"
	"math"
	"testing"

	"github.com/sinterml/sinter"
)

func testRows(t *testing.T, seed uint64, sigma float64, count int) Rows {
	t.Helper()
	r, err := NewRows(seed, sigma, count)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A row shows its 32 values, the time of day and the regime of the last.
func TestFeatures(t *testing.T) {
	r := testRows(t, 1, 0.3, 300)
	var x [Features]float32
	r.Features(30, &x)
	if x[0] != float32(r.Series.Values[30]) || x[31] != float32(r.Series.Values[61]) || x[32] != 0.25 || x[33] != float32(r.Series.Regimes[61]) {
		t.Errorf("row 30 is %v", x)
	}
	if r.Target(30) != r.Series.Values[62] {
		t.Error("the target is not what follows the window")
	}
	train, valid, test := r.Split()
	if train != (Span{0, 210}) || valid != (Span{210, 255}) || test != (Span{255, 300}) {
		t.Errorf("split into %v, %v, %v", train, valid, test)
	}
}

// What the table gives is the features, scaled.
func TestTable(t *testing.T) {
	r := testRows(t, 2, 0.3, 300)
	train, _, _ := r.Split()
	scale := r.Fit(train)
	table := NewTable(r, scale)
	numbers := []int32{0, 7, 299, 7}
	at := sinter.Of(numbers, len(numbers))
	ctx := context.Background()
	x, err := sinter.Values[float32](ctx, table.Gather(at))
	if err != nil {
		t.Fatal(err)
	}
	classes, err := sinter.Values[int32](ctx, table.Classes(at))
	if err != nil {
		t.Fatal(err)
	}
	for row, i := range numbers {
		var raw [Features]float32
		r.Features(int(i), &raw)
		for j, v := range raw {
			m := scale.of(j)
			want := (float64(v) - m.Mean) / m.Deviation
			if got := float64(x[row*Features+j]); !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("row %d, feature %d: %v, want %v", i, j, got, want)
			}
		}
		if int(classes[row]) != ClassOf(r.Target(int(i))) {
			t.Errorf("row %d has class %d", i, classes[row])
		}
	}
}

func TestNewRowsRefuses(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		count int
	}{{0.3, 0}, {0.3, -1}, {0.3, 1 << 40}, {-1, 5000}, {math.NaN(), 5000}, {math.Inf(1), 5000}} {
		if _, err := NewRows(1, c.sigma, c.count); err == nil {
			t.Errorf("%d rows with noise %v are no error", c.count, c.sigma)
		}
	}
}
