package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

var update = flag.Bool("update", false, "write the golden files")

// environment is the variables of one run.
type environment map[string]string

func (e environment) get(key string) string { return e[key] }

// runCommand runs sinter, with an empty folder for what it keeps unless env
// names one.
func runCommand(t testing.TB, env environment, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	if env["HOME"] == "" {
		env = maps.Clone(env)
		if env == nil {
			env = environment{}
		}
		env["HOME"] = t.TempDir()
	}
	var out, errs bytes.Buffer
	status = run(t.Context(), args, strings.NewReader(stdin), &out, &errs, env.get)
	return status, out.String(), errs.String()
}

func TestInterrupted(t *testing.T) {
	model := tiny(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	waiting, write := io.Pipe() // input that never comes
	defer write.Close()
	var out bytes.Buffer
	status := make(chan int)
	go func() {
		status <- run(ctx, []string{"embed", "--model", model}, waiting, &out, io.Discard, environment{}.get)
	}()
	cancel()
	if got := <-status; got != statusInterrupted {
		t.Errorf("status %d, want %d", got, statusInterrupted)
	}
	for _, args := range [][]string{{"search", "--no-index", "--model", model, "x", "."}, {"search", "--files"}, {"bench", "gemm"}, {"device"}} {
		if got := run(ctx, args, strings.NewReader(""), io.Discard, io.Discard, environment{}.get); got != statusInterrupted {
			t.Errorf("%v: status %d, want %d", args, got, statusInterrupted)
		}
	}
}

// failing is a writer to what nobody reads, or cannot.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestOutputFails(t *testing.T) {
	model := tiny(t, nil)
	for _, args := range [][]string{{"embed", "x"}, {"tokenize", "x"}, {"embed", "--format", "npy", "x"}, {"similarity", "testdata/help/sinter.txt"}, {"similarity", "--dedup", "1", "testdata/help/sinter.txt"}, {"device"}, {"device", "--json"}, {"graph"}, {"graph", "--dot"}, {"graph", "--stage", "code"}, {"search", "--no-index", "x", "testdata/help"}, {"search", "--files"}, {"search", "--files", "-0"}, {"search", "--files", "--json"}, {"-h"}, {"help", "embed"}, {"--version"}, {"version"}, {"completion", "bash"}, {"config"}} {
		args = append(args, "--model", model, "--quiet") // without estimates of what takes long on a busy machine
		for _, c := range []struct {
			err    error
			status int
		}{{io.ErrClosedPipe, statusDone}, {os.ErrPermission, statusFailed}} {
			var stderr bytes.Buffer
			got := run(t.Context(), args, strings.NewReader(""), failing{c.err}, &stderr, environment{}.get)
			if got != c.status || (stderr.Len() == 0) != (c.status == statusDone) {
				t.Errorf("%v: %v gives status %d, want %d; standard error: %s", args, c.err, got, c.status, &stderr)
			}
		}
	}
	var stderr bytes.Buffer
	in := io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(os.ErrPermission))
	if got := run(t.Context(), []string{"embed", "--model", model}, in, io.Discard, &stderr, environment{}.get); got != statusFailed {
		t.Errorf("input that fails: status %d: %s", got, &stderr)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"search"}, {"embed"}, {"tokenize"}, {"similarity"}, {"device"}, {"graph"}, {"bench"}, {"bench", "gemm"}, {"bench", "train"}, {"train", "digits"}, {"train", "temporal"}, {"config"}, {"version"}, {"man"}} {
		status, stdout, stderr := runCommand(t, nil, "", append(args, "-h")...)
		if status != 0 || stderr != "" {
			t.Errorf("%v -h: status %d, %s", args, status, stderr)
		}
		file := filepath.Join("testdata", "help", strings.Join(append([]string{"sinter"}, args...), "-")+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(stdout), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if stdout != string(want) {
			t.Errorf("%v -h prints\n%s\nwant\n%s", args, stdout, want)
		}
	}
}
