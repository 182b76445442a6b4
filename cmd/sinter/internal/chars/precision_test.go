package chars_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/cmd/sinter/internal/chars"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/train"
)

// goSource is the beginning of the sources of a few packages of Go's library.
func goSource(t *testing.T, most int, packages ...string) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no Go to read the sources of: %v", err)
	}
	var all bytes.Buffer
	for _, p := range packages {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", filepath.FromSlash(p), "*.go"))
		if err != nil || len(files) == 0 {
			t.Skipf("no sources of %s: %v", p, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	all.Truncate(min(most, all.Len()))
	return strings.ToValidUTF8(all.String(), "")
}

// Trained in bf16, a net ends where it does in f32.
func TestTrainsInBF16(t *testing.T) {
	o := chars.Options{Layers: 2, Heads: 2, Width: 48, Block: 32, Batch: 8, Steps: 120, Seed: 3}
	source := goSource(t, 60_000, "sort", "bufio")
	if effort.Now() >= effort.CI {
		o = chars.Defaults
		o.Steps, o.Seed = effort.Of(0, 0, 40, 500), 1
		source = goSource(t, 1_000_000, "sort", "bufio", "fmt", "strings", "bytes", "net/http", "encoding/json", "reflect", "time")
	}
	text := read(t, source)
	var losses []float64
	for _, p := range []sinter.Precision{sinter.F32, sinter.BF16} {
		task, err := chars.New(text, o)
		if err != nil {
			t.Fatal(err)
		}
		options := task.Train()
		options.Seed, options.Compile.Precision = o.Seed, p
		r, err := train.Run(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		loss, _ := r.Scores.Value("validation_loss")
		losses = append(losses, loss)
	}
	t.Logf("validation loss after %d steps: f32 %.4f, bf16 %.4f; of luck %.4f", o.Steps, losses[0], losses[1], chars.Luck(len(text.Vocabulary)))
	if apart := losses[1]/losses[0] - 1; !(apart < 0.01 && apart > -0.01) || losses[0] == losses[1] {
		t.Errorf("validation losses %v: f32, then bf16", losses)
	}
	if !(losses[0] < 0.8*chars.Luck(len(text.Vocabulary))) {
		t.Errorf("nothing is learned: %v", losses)
	}
}
