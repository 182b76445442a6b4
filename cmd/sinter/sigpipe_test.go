//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const envMain = "SINTER_TEST_MAIN" // set: the test binary is the command

func TestMain(m *testing.M) {
	if os.Getenv(envMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A reader that has seen enough is no failure: not a status, and no signal.
func TestReaderLeaves(t *testing.T) {
	c := exec.Command(os.Args[0], "tokenize")
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
		t.Errorf("status %v: %v", c.ProcessState, err)
	}
}
