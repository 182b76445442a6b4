// Package tune keeps what was found to be the best for the kernels of a device:
// strategies by the structure of a kernel, with what was measured.
package tune

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sinterml/sinter/internal/atomicfile"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/filelock"
)

// Machine is what choices hold for. With another driver they are looked for anew.
type Machine struct {
	Kind   string // of device
	Device string // its UUID, or its name where it has none
	Driver string // name and version
}

// Choice is what was found for a kernel.
type Choice struct {
	Name     string // of the kernel, for people
	Strategy entry.Strategy
	Found    time.Time
	// Seconds of a run, by the heuristic's strategy and by this one.
	Before, After float64
	// Operations and Bytes that the kernel cannot do without, and the share that
	// After has of the time that the device needs for them; 0: not known.
	Operations, Bytes, Share float64
	Tried, Refused           int // strategies; those whose bits were others, or that failed
	Same                     int `json:",omitempty"` // strategies that were not tried, as they make a kernel that was
}

// Limits are what a device can do at most, as measured.
type Limits struct {
	Rate      float64 // f32 operations a second in multiply-adds
	Bandwidth []Bandwidth
	Measured  time.Time
}

// Bandwidth is how fast a device copies.
type Bandwidth struct {
	Bytes float64 // of both ends
	Rate  float64 // bytes a second
}

// Store is the file of a machine. A nil Store is empty and keeps nothing.
type Store struct {
	machine Machine
	path    string

	mu     sync.Mutex
	loaded bool
	kept   content
	fault  error // why what there is cannot be used
}

// content is what a file has.
type content struct {
	Machine Machine
	Limits  Limits
	Kernels map[string]Choice // by Hash
}

// ErrNowhere is what is returned where nothing can be kept.
var ErrNowhere = errors.New("there is no folder for what is found: the device was opened without one, or neither XDG_CACHE_HOME nor HOME is set")

const (
	maxKernels = 2048 // in a file; those found longest ago go first
	maxFile    = 2 << 20
)

// Folder is where stores are if nothing else is said: in the user's folder for
// such files. It is empty where there is none.
func Folder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "sinter", "tuning")
}

// Open is the store of a machine in a folder. Nothing is read yet.
func Open(dir string, m Machine) *Store {
	if dir == "" {
		return nil
	}
	return &Store{machine: m, path: filepath.Join(dir, fileName(m))}
}

// Path is the file's name.
func (s *Store) Path() string {
	if s == nil {
		return ""
	}
	return s.path
}

// Choice finds what was chosen for a kernel.
func (s *Store) Choice(hash string) (entry.Strategy, bool) {
	if s == nil {
		return entry.Strategy{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	c, ok := s.kept.Kernels[hash]
	return c.Strategy, ok
}

// Limits are those kept; their Rate is 0 if there are none.
func (s *Store) Limits() Limits {
	if s == nil {
		return Limits{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	return s.kept.Limits
}

// Len is for how many kernels a choice is kept. An error says why those that a
// file has are not used.
func (s *Store) Len() (int, error) {
	if s == nil {
		return 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	return len(s.kept.Kernels), s.fault
}

// load reads the file once.
func (s *Store) load() {
	if s.loaded {
		return
	}
	s.loaded = true
	s.kept, s.fault = s.read()
}

// read gives what the file has: nothing where there is none.
func (s *Store) read() (content, error) {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	}
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return content{}, fmt.Errorf("%s is no regular file", s.path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	var c content
	if err == nil {
		c, err = decode(data, s.machine)
	}
	if err != nil {
		return content{}, fmt.Errorf("%s: %w", s.path, err)
	}
	return c, nil
}

// Add keeps choices beside those that the file has by now, which other processes
// may have written, and limits if they were measured. What the file had and
// cannot be used is lost.
func (s *Store) Add(ctx context.Context, l Limits, choices map[string]Choice) error {
	if s == nil {
		return ErrNowhere
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	unlock, err := lock(ctx, s.path+".lock")
	if err != nil {
		return fmt.Errorf("keeping what was found: %w", err)
	}
	defer unlock()
	now, _ := s.read() // what cannot be read is written over
	now.Machine = s.machine
	if l.Rate > 0 {
		now.Limits = l
	}
	if now.Kernels == nil {
		now.Kernels = map[string]Choice{}
	}
	maps.Copy(now.Kernels, choices)
	now.bound()
	if err := s.write(now); err != nil {
		return fmt.Errorf("keeping what was found: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept, s.fault, s.loaded = now, nil, true
	return nil
}

// bound drops the oldest choices if there are too many.
func (c *content) bound() {
	if len(c.Kernels) <= maxKernels {
		return
	}
	byAge := slices.SortedFunc(maps.Keys(c.Kernels), func(a, b string) int { return c.Kernels[a].Found.Compare(c.Kernels[b].Found) })
	for _, hash := range byAge[:len(byAge)-maxKernels] {
		delete(c.Kernels, hash)
	}
}

func (s *Store) write(c content) error {
	data, err := encode(c)
	if err != nil {
		return err
	}
	f, err := atomicfile.Create(nil, s.path, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Discard()
		return err
	}
	return f.Commit()
}

// lock waits for a lock of its own beside the file, which is replaced. Where the
// system has no locks nobody is kept out.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const pause, patience = 5 * time.Millisecond, 10 * time.Second
	for end := time.Now().Add(patience); ; {
		err := filelock.Try(f, true)
		if !errors.Is(err, filelock.ErrLocked) {
			return func() { _ = filelock.Close(f) }, nil
		}
		if time.Now().After(end) {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		case <-time.After(pause):
		}
	}
}
