package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/cmd/sinter/internal/temporal"
	"github.com/sinterml/sinter/internal/effort"
)

func TestTrainTemporal(t *testing.T) {
	for _, net := range []string{"mlp", "transformer"} {
		t.Run(net, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "model")
			lines := jsonLines(t, ok(t, "", "train", "temporal", "--net", net, "--sigma", "0.15", "--rows", "3000", "--epochs", "5", "--export", file, "--json"))
			if len(lines) != 6 || lines[0]["loss"] == nil || lines[0]["validation_accuracy"] == nil {
				t.Fatalf("%d lines for 5 epochs: %v", len(lines), lines)
			}
			last := lines[5]
			for name, least := range map[string]float64{
				"accuracy": 0.4, "accuracy_int8": 0.4, "oracle": 0.6, "regime": 0.6, "last_value": 0.6,
				"int8_bytes": 1000, "peak_tensor_bytes": 1000, "inference_seconds": 1e-7,
			} {
				if v, _ := last[name].(float64); v < least {
					t.Errorf("%s is %v", name, last[name])
				}
			}
			if size, _ := last["int8_bytes"].(float64); size > 25_000 {
				t.Errorf("the model has %v bytes", size)
			}
			m, err := temporal.Open(file, sinter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if y, err := m.Predict(t.Context(), make([]float32, 2*temporal.Features)); err != nil || len(y) != 2*temporal.Classes {
				t.Error(y, err)
			}
		})
	}
}

func TestTrainTemporalRegression(t *testing.T) {
	out := ok(t, "", "train", "temporal", "--objective", "regression", "--rows", "2000", "--json")
	lines := jsonLines(t, out)
	last := lines[len(lines)-1]
	mse, _ := last["mse"].(float64)
	reference, _ := last["mse_reference"].(float64)
	if mse <= 0 || reference < 0.05 || mse > 1.3*reference {
		t.Errorf("squared error %v, that of 0.8 v %v", mse, reference)
	}
}

// People see the references with differences.
func TestTrainTemporalText(t *testing.T) {
	out := ok(t, "", "train", "temporal", "--rows", "1000", "--epochs", "1", "--objective", "regression")
	for _, part := range []string{"oracle", "regime", "last value", "0.8 v", " ± ", "validation: squared error", "a batch of 32"} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
}

func TestTrainTemporalRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		say  string
	}{
		{[]string{"--net", "rnn"}, "mlp or transformer"},
		{[]string{"--objective", "x"}, "class or regression"},
		{[]string{"--net", "transformer", "--hidden", "3"}, "--hidden is for the mlp"},
		{[]string{"--rows", "7"}, "7 rows"},
		{[]string{"--sigma", "-1"}, "noise"},
		{[]string{"--sigma", "NaN"}, "noise"},
		{[]string{"--hidden", "-5"}, "hidden units"},
		{[]string{"--epochs", "0"}, "at least 1"},
		{[]string{"--rows", "0"}, "--rows 0"},
		{[]string{"--hidden", "0"}, "--hidden 0"},
		{[]string{"--export", "-"}, "give a file"},
		{[]string{"--export", "."}, "--export: output"},
		{[]string{"--export", ""}, "give a file"},
		{[]string{"extra"}, "no arguments"},
	} {
		status, _, errs := runCommand(t, nil, "", append([]string{"train", "temporal"}, c.args...)...)
		if status != statusUsage || !strings.Contains(errs, c.say) {
			t.Errorf("%q: status %d, %q, want %q", c.args, status, errs, c.say)
		}
	}
}

// A model that cannot be exported takes no weights with it.
func TestTrainTemporalExportFails(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		effort.Missing(t, err)
	}
	dir := t.TempDir()
	status, _, errs := runCommand(t, nil, "", "train", "temporal", "--rows", "300", "--epochs", "1", "--out", dir, "--export", full)
	if _, err := os.Stat(filepath.Join(dir, "model.safetensors")); err != nil || status != statusFailed || !strings.Contains(errs, full) {
		t.Errorf("status %d, %s, %v", status, errs, err)
	}
}
