package diskcache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestKeeps(t *testing.T) {
	c := &Cache{Dir: filepath.Join(t.TempDir(), "a", "b"), Limit: 1 << 20}
	if _, ok := c.Get("x"); ok {
		t.Error("something is kept from before")
	}
	for _, data := range []string{"one", "", "two"} {
		c.Put([]byte(data), "x", "y")
		if got, ok := c.Get("x", "y"); !ok || string(got) != data {
			t.Errorf("%q, %v, want %q", got, ok, data)
		}
	}
	for _, other := range [][]string{{"x"}, {"xy"}, {"x", "y", ""}, {"", "x", "y"}, nil} {
		if got, ok := c.Get(other...); ok {
			t.Errorf("%q is %q", other, got)
		}
	}
	var none *Cache
	none.Put(nil, "x")
	if _, ok := none.Get("x"); ok {
		t.Error("a nil cache keeps something")
	}
}

// Files may be cut off, changed, of another version, or something else.
func TestDamaged(t *testing.T) {
	c := &Cache{Dir: t.TempDir(), Limit: 1 << 20}
	c.Put([]byte("some data that is worth something"), "key")
	path := c.path(joined([]string{"key"}))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := [][]byte{nil, whole[:3], whole[:header], whole[:len(whole)-1], append(bytes.Clone(whole), 0), bytes.Replace(whole, []byte("cache 1"), []byte("cache 0"), 1)}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		damaged = append(damaged, b)
	}
	for _, b := range damaged {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Get("key"); ok {
			t.Fatalf("%q of %q", got, b)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("the damaged file %q stays", b)
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get("key"); ok {
		t.Error("a folder is data")
	}
	c.Put([]byte("x"), "key") // nothing to be done, and no fault
}

// The least recently used go first, and the folder stays below its limit.
func TestBounded(t *testing.T) {
	c := &Cache{Dir: t.TempDir(), Limit: 10_000}
	data := make([]byte, 900)
	for i := range 30 {
		c.Put(data, fmt.Sprint(i))
		old := time.Now().Add(time.Duration(i-100) * time.Hour)
		if err := os.Chtimes(c.path(joined([]string{fmt.Sprint(i)})), old, old); err != nil {
			t.Fatal(err)
		}
		if i == 5 {
			if _, ok := c.Get("0"); !ok { // which makes it the latest
				t.Error("the first is gone too early")
			}
		}
	}
	left, err := os.ReadDir(c.Dir)
	if err != nil || len(left) != 10 {
		t.Errorf("%d files, %v", len(left), err)
	}
	for i, want := range map[string]bool{"0": true, "1": false, "20": false, "22": true, "29": true} {
		if _, ok := c.Get(i); ok != want {
			t.Errorf("%s is kept: %v", i, ok)
		}
	}
	c.Put(make([]byte, 10_000), "too large")
	if _, ok := c.Get("too large"); ok {
		t.Error("more than the limit is kept")
	}
}

// What a killed process left is removed, what one still writes is not.
func TestLeftBehind(t *testing.T) {
	c := &Cache{Dir: t.TempDir(), Limit: 1 << 20}
	for name, age := range map[string]time.Duration{".x.00000001.part": 2 * time.Hour, ".y.00000002.part": 0} {
		path := filepath.Join(c.Dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Now().Add(-age), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	c.Put(nil, "k")
	if left, err := os.ReadDir(c.Dir); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

// Many write and read at once, as processes do: each finds nothing or all.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			c := &Cache{Dir: dir, Limit: 20_000}
			for i := range 12 {
				key := fmt.Sprint(i % 7)
				data := bytes.Repeat([]byte(key), 3000)
				c.Put(data, key)
				if got, ok := c.Get(key); ok && !bytes.Equal(got, data) {
					t.Errorf("goroutine %d: wrong data under %s", g, key)
				}
			}
		})
	}
	wait.Wait()
}

// Where nothing can be written nothing is kept.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Cache{Dir: filepath.Join(file, "below"), Limit: 1 << 20}
	c.Put([]byte("x"), "x")
	if _, ok := c.Get("x"); ok {
		t.Error("kept nowhere")
	}
}
