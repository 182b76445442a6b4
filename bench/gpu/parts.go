//go:build !static

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/sinterml/sinter"
)

// part is what a step runs: a program of tests, or this one.
type part struct {
	name    string
	limit   time.Duration
	tests   bool
	command func(ctx context.Context, s *settings) *exec.Cmd
}

// programs are the tests that are built, by the folder of their package.
var programs = []struct {
	name, folder, file, run string
	limit                   time.Duration
}{
	{"suite of devices", "internal/device/cuda", "cuda.test", "TestConformanceGPU|TestRandomKernels/gpu", 3 * time.Minute},
	{"operators and gradients", ".", "sinter.test", "TestReferenceOperatorsGPU/cuda", 2 * time.Minute},
	{"encoders", "model", "model.test", "TestReferenceBERTGPU/cuda", time.Minute},
	{"training", "optim", "optim.test", "TestReferenceMLPGPU/cuda", time.Minute},
}

// measures are the steps of this program itself.
var measures = []struct {
	name string
	run  func(ctx context.Context, m *meter) error
}{
	{"texts beside the processor", texts},
	{"rates: memory", memory},
	{"rates: gemm", gemms},
	{"rates: attention", attentions},
	{"rates: encoder", encoders},
}

func (s *settings) parts() []part {
	var all []part
	for _, p := range programs {
		all = append(all, part{name: p.name, limit: p.limit, tests: true, command: func(ctx context.Context, s *settings) *exec.Cmd {
			file, err := s.unpack(p.file)
			c := exec.CommandContext(ctx, file, "-test.v", "-test.run", p.run, "-test.timeout", (p.limit - time.Second).String())
			c.Err = errors.Join(c.Err, err)
			c.Dir = filepath.Join(s.root, p.folder)
			c.Env = append(os.Environ(), "SINTER_CI=1") // every case, and nothing is skipped
			return c
		}})
	}
	for _, m := range measures {
		all = append(all, part{name: m.name, limit: 90 * time.Second, command: func(ctx context.Context, s *settings) *exec.Cmd { return again(ctx, s, m.name) }})
	}
	return append(all, part{name: "torch", limit: 90 * time.Second, command: func(ctx context.Context, s *settings) *exec.Cmd {
		return exec.CommandContext(ctx, "python3", filepath.Join(s.root, "bench", "gpu", "torch_rates.py"))
	}})
}

// be runs one measurement in this process and prints its rows.
func (s *settings) be(ctx context.Context, w io.Writer) error {
	for _, m := range measures {
		if m.name != s.child {
			continue
		}
		d, err := sinter.Open(s.device)
		if err != nil {
			return err
		}
		defer d.Close()
		return m.run(ctx, &meter{device: d, root: s.root, small: s.small, bounds: boundsOf(d), print: func(r row) error {
			text, err := json.Marshal(r)
			if err == nil {
				_, err = fmt.Fprintf(w, "\n%s%s\n", rowMark, text)
			}
			return err
		}})
	}
	return fmt.Errorf("no step %q", s.child)
}
