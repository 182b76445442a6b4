package bench

import (
	"math"
	"testing"
	"testing/fstest"
)

// A text of 128 tokens takes the all-MiniLM-L6-v2 2.87 GFLOP, and its products
// have 10.6 million weights.
func TestEncoderFlops(t *testing.T) {
	files := fstest.MapFS{"config.json": {Data: []byte(`{"num_hidden_layers": 6, "hidden_size": 384, "intermediate_size": 1536, "hidden_act": "gelu"}`)}}
	e, err := ReadEncoder(files)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Flops(128) / 1e9; !(math.Abs(got-2.87) <= 0.005) {
		t.Errorf("%.3f GFLOP", got)
	}
	if got := e.Weights(); got != 10_616_832 {
		t.Errorf("%d weights", got)
	}
	if _, err := ReadEncoder(fstest.MapFS{}); err == nil {
		t.Error("sizes without a file")
	}
}
