// Command startup times the process `sinter embed hello`: how long a user waits
// for a first vector, and how much memory that takes.
//
//	go run ./bench/startup          # a table
//	go run ./bench/startup -json    # the rows
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/sinterml/sinter/bench"
)

// runs are taken after one that is not counted: files are then in memory.
const runs = 15

// row is the median of the runs for one number format.
type row struct {
	Name    string  `json:"name"`
	DType   string  `json:"dtype"`
	Seconds float64 `json:"median_seconds"`
	Least   float64 `json:"least_seconds"`
	Peak    int64   `json:"peak_bytes"` // resident; 0 where it is not known
}

func main() {
	asJSON := flag.Bool("json", false, "print the rows as JSON")
	flag.Parse()
	if err := run(context.Background(), *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "startup:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, asJSON bool) (err error) {
	folder, err := os.MkdirTemp("", "startup")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	binary, err := build(ctx, folder)
	if err != nil {
		return err
	}
	var rows []row
	for _, dtype := range []string{"int8", "f32"} {
		r, err := measure(ctx, binary, dtype)
		if err != nil {
			return err
		}
		rows = append(rows, r)
		if !asJSON {
			fmt.Printf("sinter embed hello, %-4s: %5.1f ms, least %5.1f, %5.1f MB\n", r.DType, 1e3*r.Seconds, 1e3*r.Least, float64(r.Peak)/1e6)
		}
	}
	if !asJSON {
		return nil
	}
	return bench.WriteReport(os.Stdout, rows)
}

func build(ctx context.Context, folder string) (string, error) {
	binary := filepath.Join(folder, "sinter")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	c := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/sinterml/sinter/cmd/sinter")
	c.Stderr = os.Stderr
	return binary, c.Run()
}

func measure(ctx context.Context, binary, dtype string) (r row, err error) {
	r = row{Name: "startup", DType: dtype}
	var seconds []float64
	for i := range runs + 1 {
		c := exec.CommandContext(ctx, binary, "embed", "--dtype", dtype, "hello")
		c.Stderr = os.Stderr
		start := time.Now()
		if err := c.Run(); err != nil {
			return r, err
		}
		if i > 0 {
			seconds = append(seconds, time.Since(start).Seconds())
			r.Peak = max(r.Peak, peakMemory(c.ProcessState))
		}
	}
	slices.Sort(seconds)
	r.Seconds, r.Least = seconds[len(seconds)/2], seconds[0]
	return r, nil
}
