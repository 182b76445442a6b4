package temporal

import (
	"context"
	"slices"
	"time"

	"github.com/sinterml/sinter"
)

// Inference is the time that a batch takes, the median of many.
type Inference struct {
	Rows        int
	Float, Int8 time.Duration
}

const (
	inferenceRows = 32
	inferenceRuns = 501
)

// TimeInference times a batch through the net, in f32 and as a model in 8 bits:
// from features as they are to outputs.
func (t *Task) TimeInference(ctx context.Context, m *Model, o sinter.Options) (Inference, error) {
	i := Inference{Rows: inferenceRows}
	// Weights of a net that goes on being trained may change from run to run;
	// those of a model do not.
	float, err := t.Float(ctx, o)
	if err != nil {
		return i, err
	}
	defer float.Close()
	if i.Float, err = float.time(ctx, t.Rows); err != nil {
		return i, err
	}
	i.Int8, err = m.time(ctx, t.Rows)
	return i, err
}

func (m *Model) time(ctx context.Context, r Rows) (time.Duration, error) {
	x := sinter.Of(r.features(Span{0, inferenceRows}), inferenceRows, Features)
	if m.device != nil {
		ctx = sinter.WithDevice(ctx, m.device)
	}
	in := map[string]sinter.Tensor{"x": x}
	times := make([]time.Duration, inferenceRuns)
	for i := range times {
		start := time.Now()
		out, err := m.program.Run(ctx, in)
		times[i] = time.Since(start)
		if err != nil {
			return 0, err
		}
		out[0].Release()
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
