package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/toy"
	"github.com/sinterml/sinter/internal/diskcache"
)

// keeper counts what its driver is asked for.
type keeper struct {
	launch.Backend
	driver string // its version

	mu              sync.Mutex
	built, restored int
}

// compiled is a program with the code that it was made of.
type compiled struct {
	launch.Program
	text string
}

func (k *keeper) Build(c *launch.Code) (launch.Program, error) {
	k.mu.Lock()
	k.built++
	k.mu.Unlock()
	p, err := k.Backend.Build(c)
	return &compiled{p, c.Text}, err
}

func (k *keeper) Identity() []string { return []string{"toy", k.driver} }

func (k *keeper) Compiled(p launch.Program) ([]byte, error) {
	return []byte(k.driver + p.(*compiled).text), nil
}

func (k *keeper) Restore(c *launch.Code, b []byte) (launch.Program, error) {
	if len(b) < len(k.driver) || string(b[:len(k.driver)]) != k.driver {
		return nil, errors.New("of another version")
	}
	k.mu.Lock()
	k.restored++
	k.mu.Unlock()
	p, err := k.Backend.Build(&launch.Code{Text: string(b[len(k.driver):])})
	return &compiled{p, c.Text}, err
}

// process runs a program as another process would, and tells how it came by it.
func process(t *testing.T, dir, driver string) (built, restored int) {
	t.Helper()
	k := &keeper{Backend: toy.Backend(0), driver: driver}
	o := toy.Options()
	if dir != "" {
		o.Kept = &diskcache.Cache{Dir: dir, Limit: 1 << 20}
	}
	launchtest.SubmitChain(t, open(t, k, o), "")
	return k.built, k.restored
}

func TestProgramsAreKept(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []struct {
		dir, driver     string
		built, restored int
	}{
		{dir, "1", 1, 0}, {dir, "1", 0, 1}, {dir, "2", 1, 0}, {dir, "2", 0, 1}, {dir, "1", 0, 1}, {"", "1", 1, 0}, {"", "1", 1, 0},
	} {
		if built, restored := process(t, want.dir, want.driver); built != want.built || restored != want.restored {
			t.Errorf("process %d: %d built, %d restored, want %+v", i, built, restored, want)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(f, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if built, restored := process(t, dir, "1"); built != 1 || restored != 0 {
		t.Errorf("damaged: %d built, %d restored", built, restored)
	}
	if built, restored := process(t, dir, "1"); built != 0 || restored != 1 {
		t.Errorf("mended: %d built, %d restored", built, restored)
	}
}

// refuser takes up nothing: its driver has changed, and its version not.
type refuser struct{ *keeper }

func (refuser) Restore(*launch.Code, []byte) (launch.Program, error) {
	return nil, errors.New("invalid binary")
}

func TestRefusedIsCompiled(t *testing.T) {
	dir := t.TempDir()
	process(t, dir, "1")
	k := &keeper{Backend: toy.Backend(0), driver: "1"}
	o := toy.Options()
	o.Kept = &diskcache.Cache{Dir: dir, Limit: 1 << 20}
	launchtest.SubmitChain(t, open(t, refuser{k}, o), "")
	if k.built != 1 {
		t.Errorf("%d built", k.built)
	}
}

// Several processes keep programs in one folder at the same time.
func TestKeptAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 5 {
				if built, restored := process(t, dir, "1"); built+restored != 1 {
					t.Errorf("%d built, %d restored", built, restored)
				}
			}
		})
	}
	wait.Wait()
}
