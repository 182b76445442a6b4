package launchtest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/diskcache"
)

// Process is what stands for a process of its own: it opens one of two devices
// that are alike, under some version of their driver.
type Process struct {
	Driver string
	Second bool // of the devices
	// Foreign has the driver take up nothing that was compiled before it was
	// opened: it has changed, and its version not.
	Foreign bool
	Kept    *diskcache.Cache
}

// Opened is what a process opened, which the test closes, and how many programs
// its driver has compiled.
type Opened struct {
	Device   *launch.Device
	Compiled func() int
}

// KeepsPrograms tests that what one process compiled others take up, if their
// device and its driver are the same, and that whatever is wrong with what is
// kept, a program is compiled anew.
func KeepsPrograms(t *testing.T, open func(t *testing.T, p Process) Opened) {
	// compiles runs a program in a process and tells how often it was compiled.
	compiles := func(t *testing.T, p Process) (n int) {
		t.Run("process", func(t *testing.T) {
			o := open(t, p)
			before := o.Compiled()
			SubmitChain(t, o.Device, "")
			n = o.Compiled() - before
		})
		return n
	}
	in := func(dir string) *diskcache.Cache { return &diskcache.Cache{Dir: dir, Limit: 1 << 20} }

	t.Run("versions", func(t *testing.T) {
		kept := in(t.TempDir())
		for i, c := range []struct {
			p    Process
			want int
		}{
			{Process{Driver: "1", Kept: kept}, 1}, {Process{Driver: "1", Kept: kept}, 0},
			{Process{Driver: "2", Kept: kept}, 1}, {Process{Driver: "2", Kept: kept}, 0},
			{Process{Driver: "1", Second: true, Kept: kept}, 1}, {Process{Driver: "1", Kept: kept}, 0},
			{Process{Driver: "1", Foreign: true, Kept: kept}, 1},
			{Process{Driver: "1"}, 1}, {Process{Driver: "1"}, 1},
		} {
			if got := compiles(t, c.p); got != c.want {
				t.Errorf("process %d, %+v: %d compiled, want %d", i, c.p, got, c.want)
			}
		}
		if files := keptIn(t, kept); len(files) != 3 {
			t.Errorf("kept: %v", files)
		}
	})
	t.Run("damaged", func(t *testing.T) {
		kept := in(t.TempDir())
		p := Process{Driver: "1", Kept: kept}
		compiles(t, p)
		for name, damage := range map[string]func(b []byte) []byte{
			"a bit":   func(b []byte) []byte { b[len(b)-3] ^= 1; return b },
			"cut off": func(b []byte) []byte { return b[:len(b)-1] },
			"nothing": func([]byte) []byte { return nil },
		} {
			for _, file := range keptIn(t, kept) {
				b, err := os.ReadFile(file)
				if err == nil {
					err = os.WriteFile(file, damage(b), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if n := compiles(t, p); n != 1 {
				t.Errorf("%s: %d compiled", name, n)
			}
			if n := compiles(t, p); n != 0 {
				t.Errorf("%s, mended: %d compiled", name, n)
			}
		}
	})
	t.Run("at once", func(t *testing.T) {
		dir := t.TempDir()
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				for range 5 {
					if n := compiles(t, Process{Driver: "1", Kept: in(dir)}); n > 1 {
						t.Errorf("%d compiled", n)
					}
				}
			})
		}
		wait.Wait()
		if n := compiles(t, Process{Driver: "1", Kept: in(dir)}); n != 0 {
			t.Errorf("afterwards: %d compiled", n)
		}
	})
}

func keptIn(t *testing.T, c *diskcache.Cache) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(c.Dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
