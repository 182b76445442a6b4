//go:build unix

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/effort"
)

// memoryFolder is a folder in memory where there is one, as these tests sync
// thousands of times.
func memoryFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "sinter-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// trainProcess is sinter train in a process of its own.
func trainProcess(dir string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], append([]string{"train", "line", "--rough", "--json", "--out", dir}, args...)...)
	c.Env = append(os.Environ(), envMain+"=1", "HOME="+dir)
	return c
}

// Killed at any moment, a run goes on from its last checkpoint, again and again,
// and ends at the bits of one that nobody killed.
func TestTrainKilled(t *testing.T) {
	kills := effort.Of(4, 10, 30, 200)
	args := []string{"--epochs", "400", "--checkpoint-every", "7", "--resume"}
	whole := memoryFolder(t)
	start := time.Now()
	if out, err := trainProcess(whole, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	long := time.Since(start)
	want, err := os.ReadFile(filepath.Join(whole, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	killed, ended := 0, 0
	for dir := memoryFolder(t); killed < kills || ended == 0; {
		c := trainProcess(dir, args...)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(r.Int64N(int64(long)))
		if killed == kills { // beside other work all may have been killed
			after = time.Hour
		}
		timer := time.AfterFunc(after, func() { _ = c.Process.Kill() })
		err := c.Wait()
		if timer.Stop(); err != nil && c.ProcessState.Exited() {
			t.Fatalf("after %d kills: %v: %s", killed, err, out.Bytes())
		}
		if err != nil {
			killed++
			continue
		}
		ended++
		lines := jsonLines(t, out.String())
		got, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
		if last := lines[len(lines)-1]; err != nil || !bytes.Equal(got, want) || last["done"] != true {
			t.Fatalf("after %d kills the model is another, or %v; last line %v", killed, err, last)
		}
		dir = memoryFolder(t)
	}
	t.Logf("%d kills, %d runs brought to their end; one that is left alone takes %v", killed, ended, long)
}
