package probe

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
)

// keeping is what is kept of a driver on disk, and how often a child was asked
// for it.
type keeping struct {
	t          *testing.T
	driver     device.Driver
	dir, count string
	ran        int
}

func newKeeping(t *testing.T) *keeping {
	dir := t.TempDir()
	return &keeping{t: t, driver: scripted["good"], dir: filepath.Join(dir, "cache"), count: filepath.Join(dir, "count")}
}

func (k *keeping) prober() *Prober {
	p := prober("TEST_COUNT=" + k.count)
	p.Dir = k.dir
	return p
}

// asks wants p to answer, and to ask a child so often for it.
func (k *keeping) asks(what string, p *Prober, all bool, times int) {
	k.t.Helper()
	rs, err := p.Kept(k.t.Context(), k.driver, all)
	if err != nil || len(rs) != 3 {
		k.t.Errorf("%s: %+v, %v", what, rs, err)
	}
	b, _ := os.ReadFile(k.count)
	if len(b)-k.ran != times {
		k.t.Errorf("%s: asked %d times, not %d", what, len(b)-k.ran, times)
	}
	k.ran = len(b)
}

// TestKept asks again when, and only when, something has changed.
func TestKept(t *testing.T) {
	k := newKeeping(t)
	watched, variable := filepath.Join(t.TempDir(), "watched"), "SINTER_TEST_DRIVER_VARIABLE"
	k.driver.Watch, k.driver.Environment = []string{watched}, []string{variable}
	k.asks("first", k.prober(), false, 1)
	k.asks("again", k.prober(), false, 0)
	k.asks("software is to be checked too", k.prober(), true, 1)
	k.asks("it has been", k.prober(), true, 0)
	if err := os.WriteFile(watched, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k.asks("a file appears", k.prober(), false, 1)
	t.Setenv(variable, "1")
	k.asks("a variable is set", k.prober(), false, 1)
	k.asks("nothing", k.prober(), false, 0)

	p := k.prober()
	p.Memory, p.Dir = &sync.Map{}, ""
	k.asks("nowhere on disk", p, false, 1)
	k.asks("in memory", p, false, 0)
	p = k.prober()
	p.Dir = ""
	k.asks("in no memory", p, false, 1)
}

// TestKeptUseless has records that say something else than what is asked for.
func TestKeptUseless(t *testing.T) {
	k := newKeeping(t)
	k.driver.Watch = []string{filepath.Join(t.TempDir(), "watched")}
	k.asks("first", k.prober(), false, 1)
	file := k.prober().file(k.driver)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*record){
		"another version":          func(r *record) { r.Version++ },
		"another program":          func(r *record) { r.Program.Size++ },
		"old":                      func(r *record) { r.Time = r.Time.Add(-lifetime - time.Hour) },
		"of the future":            func(r *record) { r.Time = r.Time.Add(time.Hour) },
		"of a failure, older":      func(r *record) { r.Failed, r.Time = true, r.Time.Add(-failedLifetime-time.Minute) },
		"of other files":           func(r *record) { r.Stamps = r.Stamps[1:] },
		"of another driver":        func(r *record) { r.Results[0].Kind = "other" },
		"of devices without names": func(r *record) { r.Results[0].Name = "" },
		"without devices":          func(r *record) { r.Results = nil },
	} {
		var r record
		if err := json.Unmarshal(good, &r); err != nil {
			t.Fatal(err)
		}
		change(&r)
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		k.asks(what, k.prober(), false, 1)
	}
}

// TestKeptDamaged has files that are no record: the next takes their place.
func TestKeptDamaged(t *testing.T) {
	k := newKeeping(t)
	k.asks("first", k.prober(), false, 1)
	file := k.prober().file(k.driver)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{
		"empty": nil, "cut": good[:len(good)/2], "no JSON": []byte("\x00\xff"), "another shape": []byte("[]"), "a list in it": []byte(`{"Version":1,"Results":{}}`),
		"too long": append(bytes.Repeat([]byte(" "), maxFile), good...),
	} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		k.asks(what, k.prober(), false, 1)
		k.asks("after "+what, k.prober(), false, 0)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	k.asks("a folder in its place", k.prober(), false, 1)
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
