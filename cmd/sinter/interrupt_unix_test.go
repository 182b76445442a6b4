//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A pipe that nobody writes to holds a command up until it is interrupted.
func TestInterruptedAtAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	c := exec.Command(os.Args[0], "search", "--no-index", "query", pipe)
	c.Env = append(os.Environ(), envMain+"=1", "HOME="+t.TempDir())
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	writer := opened(t, pipe)
	defer writer.Close()
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	kill := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
	defer kill.Stop()
	err := c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != statusInterrupted || time.Since(start) > 10*time.Second {
		t.Errorf("ended after %v: %v", time.Since(start), err)
	}
}

// opened is the end of a pipe to write to, once somebody reads from it.
func opened(t *testing.T, pipe string) *os.File {
	t.Helper()
	for range 3000 {
		f, err := os.OpenFile(pipe, os.O_WRONLY|unix.O_NONBLOCK, 0)
		if err == nil {
			return f
		}
		if !errors.Is(err, unix.ENXIO) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nobody reads from the pipe")
	return nil
}
