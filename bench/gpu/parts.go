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
	"strings"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/gputest"
)

// part is what a step runs: a program of tests, or this one.
type part struct {
	name    string
	limit   time.Duration
	device  string // that tests must have; "": it is no test
	missing error  // why the device is not there, where it is not
	command func(ctx context.Context, s *settings) *exec.Cmd
}

// programs are the tests that are built, by the folder of their package.
var programs = []struct {
	name, folder, file, run string
	limit                   time.Duration
}{
	{"suite of devices", "internal/gputest", "gputest.test", "TestNamedSuite|TestNamedKernels|TestNamedGraphs", 3 * time.Minute},
	{"operators and gradients", ".", "sinter.test", "TestReferenceOperatorsGPU", 2 * time.Minute},
	{"encoders", "model", "model.test", "TestReferenceBERTGPU", time.Minute},
	{"training", "optim", "optim.test", "TestReferenceMLPGPU", time.Minute},
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

// parts are those of a GPU: all by the driver that was asked for, and then by
// others that have it too.
func (s *settings) parts(g gpu) []part {
	all := s.partsOn(g.name, g.cuda, "", nil)
	if _, index, ok := strings.Cut(g.cuda, ":"); ok {
		all = append(all, part{name: "torch", limit: 90 * time.Second, command: func(ctx context.Context, s *settings) *exec.Cmd {
			return exec.CommandContext(ctx, "python3", filepath.Join(s.root, "bench", "gpu", "torch_rates.py"), index)
		}})
	}
	for _, o := range g.others {
		all = append(all, s.partsOn(o.name, g.cuda, o.kind+": ", o.missing)...)
	}
	return all
}

// partsOn are the tests and measurements of a device. hardware is what CUDA calls
// it.
func (s *settings) partsOn(device, hardware, prefix string, missing error) []part {
	var all []part
	for _, p := range programs {
		all = append(all, part{name: prefix + p.name, limit: p.limit, device: device, missing: missing, command: func(ctx context.Context, s *settings) *exec.Cmd {
			file, err := s.unpack(p.file)
			c := exec.CommandContext(ctx, file, "-test.v", "-test.run", p.run, "-test.timeout", (p.limit - time.Second).String())
			c.Err = errors.Join(c.Err, err)
			c.Dir = filepath.Join(s.root, p.folder)
			c.Env = append(os.Environ(), "SINTER_CI=1", gputest.Variable+"="+device) // as much as before a change lands, on that device alone, which must be there
			return c
		}})
	}
	for _, m := range measures {
		all = append(all, part{name: prefix + m.name, limit: 90 * time.Second, missing: missing, command: func(ctx context.Context, s *settings) *exec.Cmd {
			return again(ctx, s, m.name, device, hardware)
		}})
	}
	return all
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
		return m.run(ctx, &meter{device: d, root: s.root, small: s.small, bounds: boundsOf(s.hardware), print: func(r row) error {
			text, err := json.Marshal(r)
			if err == nil {
				_, err = fmt.Fprintf(w, "\n%s%s\n", rowMark, text)
			}
			return err
		}})
	}
	return fmt.Errorf("no step %q", s.child)
}
