//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A reader that has seen enough is no failure: not a status, and no signal.
func TestReaderLeaves(t *testing.T) {
	dir := t.TempDir()
	for i := range 1000 { // whose paths are more than a pipe holds
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%0200d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"tokenize"}, {"search", "--files", dir}} {
		c := exec.Command(os.Args[0], args...)
		c.Env = append(os.Environ(), envMain+"=1")
		c.Stdin = strings.NewReader(strings.Repeat("one more line\n", 100_000))
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		_ = out.Close()
		if err := c.Wait(); c.ProcessState.ExitCode() != statusDone {
			t.Errorf("%v: status %v: %v", args, c.ProcessState, err)
		}
	}
}
