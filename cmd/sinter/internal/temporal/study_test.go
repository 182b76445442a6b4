//go:build long

package temporal

import (
	"flag"
	"math"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
)

var (
	studyFirst = flag.Int64("first", 1, "first seed of the study; settings were chosen on 1000 and above")
	studySeeds = flag.Int("seeds", 20, "seeds of the study")
	studyRows  = flag.Int("rows", 0, "rows of a series; 0: 5,000 and 100,000")
	studyNet   = flag.String("net", "", "net; empty: both")
)

// bounds are the least share of the regime predictor's accuracy, the mean over
// the seeds, that a net has to reach.
var bounds = map[int]map[string]float64{
	5_000:   {MLPName: 0.98, TransformerName: 0.99},
	100_000: {MLPName: 0.999, TransformerName: 0.999},
}

// TestStudy trains nets on series that nothing was chosen by:
//
//	go test -tags long -run TestStudy -v -timeout 2h ./cmd/sinter/internal/temporal
func TestStudy(t *testing.T) {
	for _, rows := range []int{5_000, 100_000} {
		for _, net := range []string{MLPName, TransformerName} {
			for _, sigma := range []float64{0.15, 0.3} {
				if (*studyRows == 0 || *studyRows == rows) && (*studyNet == "" || *studyNet == net) {
					study(t, Options{Rows: rows, Net: net, Sigma: sigma})
				}
			}
		}
	}
}

func study(t *testing.T, o Options) {
	var accuracy, regime, last, loss, seconds Outcome // by seed
	for i := range *studySeeds {
		o.Seed = *studyFirst + int64(i)
		task, result := trained(t, o, sinter.Options{})
		hits, small := outcomes(t, task)
		accuracy = append(accuracy, hits.Mean())
		regime = append(regime, Regime.Hits(task.Rows, task.Test).Mean())
		last = append(last, LastValue.Hits(task.Rows, task.Test).Mean())
		loss = append(loss, hits.Mean()-small.Mean())
		seconds = append(seconds, result.Train.Seconds())
	}
	share, against, over := accuracy.Mean()/regime.Mean(), accuracy.Against(regime), accuracy.Against(last)
	t.Logf("%s, %d rows, sigma %v: right in %.2f %%, %.2f %% of the regime predictor's %.2f (by %+.3f ± %.3f points), %+.2f ± %.2f points over last value; int8 loses %.3f points on average, %.3f at most; %.2f s",
		o.Net, o.Rows, o.Sigma, 100*accuracy.Mean(), 100*share, 100*regime.Mean(), 100*against.Mean, 100*against.Error, 100*over.Mean, 100*over.Error, 100*loss.Mean(), 100*slices.Max(loss), seconds.Mean())
	if !(share >= bounds[o.Rows][o.Net]) {
		t.Errorf("%s, %d rows, sigma %v: %.5f of the regime predictor's accuracy, want %v", o.Net, o.Rows, o.Sigma, share, bounds[o.Rows][o.Net])
	}
	if o.Rows == 100_000 && o.Sigma == 0.15 && !(over.Mean >= 0.007) {
		t.Errorf("%s: %.4f above last value, want 0.007", o.Net, over.Mean)
	}
	if !(math.Abs(loss.Mean()) <= 0.003) {
		t.Errorf("%s, %d rows, sigma %v: int8 differs by %.4f", o.Net, o.Rows, o.Sigma, loss.Mean())
	}
}
