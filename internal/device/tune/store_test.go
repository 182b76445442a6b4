package tune

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/emit/entry"
)

var machine = Machine{Kind: "opencl", Device: "GPU / 1", Driver: "2.0"}

func choice(tasks int) Choice {
	return Choice{Name: "k", Strategy: entry.Strategy{Tasks: tasks}, Found: time.Unix(int64(tasks), 0)}
}

func add(t *testing.T, s *Store, hash string, tasks int) {
	t.Helper()
	if err := s.Add(context.Background(), Limits{}, map[string]Choice{hash: choice(tasks)}); err != nil {
		t.Fatal(err)
	}
}

func TestKept(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir, machine)
	if _, ok := s.Choice("a"); ok {
		t.Error("a choice in an empty store")
	}
	add(t, s, "a", 1)
	add(t, s, "b", 2)
	l := Limits{Rate: 3, Bandwidth: []Bandwidth{{4, 5}}}
	if err := s.Add(context.Background(), l, nil); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{s, Open(dir, machine)} {
		for hash, tasks := range map[string]int{"a": 1, "b": 2} {
			if c, ok := s.Choice(hash); !ok || c.Tasks != tasks {
				t.Errorf("%s: %v, %v", hash, c, ok)
			}
		}
		if n, err := s.Len(); n != 2 || err != nil || s.Limits().Rate != 3 || s.Limits().Bandwidth[0].Rate != 5 {
			t.Errorf("%d, %v, %v", n, err, s.Limits())
		}
	}
}

// TestUseless has files that cannot be used: that is said, they hold no choice,
// and the next that is kept takes their place.
func TestUseless(t *testing.T) {
	good := t.TempDir()
	add(t, Open(good, machine), "a", 1)
	data, err := os.ReadFile(Open(good, machine).Path())
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, with string) string {
		changed := strings.Replace(string(data), old, with, 1)
		if changed == string(data) {
			t.Fatalf("%s has no %s", data, old)
		}
		return changed
	}
	for name, c := range map[string]struct{ contents, says string }{
		"cut":             {string(data[:len(data)/2]), "damaged"},
		"empty":           {"", "damaged"},
		"one number":      {replace(`"Tasks":1`, `"Tasks":2`), "checksum"},
		"another version": {replace(`"version":1`, `"version":2`), "version 2"},
		"another driver":  {string(data), "another device or driver"},
		"too long":        {strings.Repeat(" ", maxFile) + string(data), "more than"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			m := machine
			if name == "another driver" {
				m.Driver = "2.1"
			}
			s := Open(t.TempDir(), m)
			if err := os.WriteFile(s.Path(), []byte(c.contents), 0o600); err != nil {
				t.Fatal(err)
			}
			if c, ok := s.Choice("a"); ok {
				t.Errorf("it is used: %v", c)
			}
			if n, err := s.Len(); n != 0 || err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), s.Path()) {
				t.Errorf("%d, %v, want %q", n, err, c.says)
			}
			add(t, s, "b", 7)
			again := Open(filepath.Dir(s.Path()), m)
			if c, ok := again.Choice("b"); !ok || c.Tasks != 7 {
				t.Errorf("written anew: %v, %v", c, ok)
			}
			if n, err := again.Len(); n != 1 || err != nil {
				t.Errorf("written anew: %d, %v", n, err)
			}
		})
	}
}

// TestBounded keeps the latest.
func TestBounded(t *testing.T) {
	s := Open(t.TempDir(), machine)
	all := map[string]Choice{}
	for i := range maxKernels + 10 {
		all[fmt.Sprint(i)] = choice(i)
	}
	if err := s.Add(context.Background(), Limits{}, all); err != nil {
		t.Fatal(err)
	}
	again := Open(filepath.Dir(s.Path()), machine)
	if n, err := again.Len(); n != maxKernels || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, ok := again.Choice("9"); ok {
		t.Error("the oldest is kept")
	}
	if _, ok := again.Choice("10"); !ok {
		t.Error("too much is dropped")
	}
}

// folderVariable has a process of this test add to a store.
const folderVariable = "SINTER_TEST_TUNING"

const each = 40 // choices of a process

// TestTwoProcesses has two processes keep what they find at once: nothing is
// lost.
func TestTwoProcesses(t *testing.T) {
	if dir, who, ok := strings.Cut(os.Getenv(folderVariable), "|"); ok {
		s := Open(dir, machine)
		for i := range each {
			add(t, s, fmt.Sprint(who, i), i+1)
		}
		return
	}
	dir := t.TempDir()
	var all []*exec.Cmd
	for _, who := range []string{"x", "y"} {
		c := exec.Command(os.Args[0], "-test.run", "TestTwoProcesses")
		c.Env = append(os.Environ(), folderVariable+"="+dir+"|"+who)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := Open(dir, machine)
	if n, err := s.Len(); n != 2*each || err != nil {
		t.Errorf("%d of %d choices, %v", n, 2*each, err)
	}
	for _, who := range []string{"x", "y"} {
		for i := range each {
			if c, ok := s.Choice(fmt.Sprint(who, i)); !ok || c.Tasks != i+1 {
				t.Errorf("%s%d: %v, %v", who, i, c, ok)
			}
		}
	}
}

// A lock that another keeps is waited for no longer than the caller wants.
func TestLocked(t *testing.T) {
	s := Open(t.TempDir(), machine)
	unlock, err := lock(context.Background(), s.Path()+".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := s.Add(ctx, Limits{}, map[string]Choice{"a": choice(1)}); err == nil {
		t.Error("written beside another who has the lock")
	}
}
