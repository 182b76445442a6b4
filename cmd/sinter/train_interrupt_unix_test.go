//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An interrupt keeps where the run is and ends with 130; what goes on from there
// ends at the bits of a run that was left alone.
func TestTrainInterrupted(t *testing.T) {
	dir, whole := t.TempDir(), t.TempDir()
	args := []string{"--epochs", "3000"}
	if out, err := trainProcess(whole, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c, out, errs := trainBegun(t, dir, args...)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var rest bytes.Buffer
	if _, err := rest.ReadFrom(out); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != statusInterrupted || !strings.Contains(errs.String(), "--resume goes on from there") {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if names, err := filepath.Glob(filepath.Join(dir, "checkpoints", "*.safetensors")); err != nil || len(names) != 1 || strings.Contains(rest.String(), `"done"`) {
		t.Fatal(names)
	}
	// Without --resume it is not thrown away.
	if out, err := trainProcess(dir, args...).CombinedOutput(); err == nil || !bytes.Contains(out, []byte("did not come to its end")) {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := trainProcess(dir, append(args, "--resume")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(whole, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "model.safetensors")); err != nil || !bytes.Equal(got, want) {
		t.Error("another model", err)
	}
}

// A reader that has seen enough ends a run like an interrupt: what was learned is
// kept.
func TestTrainReaderLeaves(t *testing.T) {
	dir := t.TempDir()
	c, out, errs := trainBegun(t, dir, "--epochs", "100000")
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil || !strings.Contains(errs.String(), "--resume goes on from there") {
		t.Errorf("%v: %s", err, errs.String())
	}
	if names, err := filepath.Glob(filepath.Join(dir, "checkpoints", "*.safetensors")); err != nil || len(names) != 1 {
		t.Error(names, err)
	}
}

// trainBegun starts a run and returns once it has said something, with what it
// says from then on.
func trainBegun(t *testing.T, dir string, args ...string) (c *exec.Cmd, out io.ReadCloser, errs *bytes.Buffer) {
	t.Helper()
	c, errs = trainProcess(dir, args...), &bytes.Buffer{}
	c.Stderr = errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
	t.Cleanup(func() { kill.Stop() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return c, out, errs
}
