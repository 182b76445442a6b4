package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
)

// faultDisk is a disk that fails at one operation and from then on does
// nothing. It knows what of each file was synced.
type faultDisk struct {
	after  int   // operations that succeed
	err    error // of the one behind them
	done   int
	failed bool
	// synced holds what would be on the disk after a power failure: contents,
	// and names of which the folder was synced.
	synced map[string][]byte
	named  map[string]bool
}

func newFaultDisk(after int, err error) *faultDisk {
	return &faultDisk{after: after, err: err, synced: map[string][]byte{}, named: map[string]bool{}}
}

// step counts an operation.
func (d *faultDisk) step() error {
	if d.failed = d.failed || d.done >= d.after; d.failed {
		return d.err
	}
	d.done++
	return nil
}

func (d *faultDisk) Open(name string) (diskFile, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &faultFile{f, d}, nil
}

func (d *faultDisk) SyncDir(name string) error {
	if err := d.step(); err != nil {
		return err
	}
	entries, err := os.ReadDir(name)
	for _, e := range entries {
		d.named[filepath.Join(name, e.Name())] = true
	}
	return err
}

type faultFile struct {
	*os.File
	disk *faultDisk
}

func (f *faultFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.disk.step(); err != nil {
		n, _ := f.File.WriteAt(p[:len(p)/2], at) // as a full disk does
		return n, err
	}
	return f.File.WriteAt(p, at)
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.disk.step(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *faultFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	data, err := os.ReadFile(f.Name())
	f.disk.synced[f.Name()] = data
	return err
}

// pullPlug leaves of each segment what was synced. index.db is bbolt's affair,
// which syncs before a commit counts, and writes in place nothing that counts.
func (d *faultDisk) pullPlug(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"+segmentSuffix))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, ok := d.synced[name]
		if ok && d.named[name] {
			err = os.WriteFile(name, data, 0o600)
		} else {
			err = os.Remove(name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// memoryDir is a folder in memory where there is one, as these tests sync
// thousands of times.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "sinter-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

var errPlug = errors.New("the plug was pulled")

// Wherever the power fails, what was committed is there, and the next commit
// succeeds. Segments are small here, so that some begin meanwhile.
func TestPowerFails(t *testing.T) {
	everyOperation(t, errPlug, func(d *faultDisk, dir string) { d.pullPlug(t, dir) })
}

// Wherever the disk is full, the commit says so and what was committed before
// is there.
func TestDiskFull(t *testing.T) {
	everyOperation(t, syscall.ENOSPC, func(*faultDisk, string) {})
}

func everyOperation(t *testing.T, fault error, then func(d *faultDisk, dir string)) {
	old := maxSegment
	t.Cleanup(func() { maxSegment = old })
	maxSegment = 6 << 10
	const files = 6
	for after := 0; ; after++ {
		dir := memoryDir(t)
		d := newFaultDisk(after, fault)
		committed := map[string][]string{}
		x := openTest(t, dir, Options{disk: d})
		for i := range files {
			path := fmt.Sprint("/", i)
			texts, b := stubFile(path, 20)
			_, err := x.Commit(context.Background(), b)
			if err == nil {
				committed[path] = texts
				continue
			}
			if !errors.Is(err, fault) {
				t.Fatalf("operation %d: %v", after, err)
			}
		}
		then(d, dir)
		again := openTest(t, dir, Options{Warn: func(m string) { t.Errorf("operation %d: %s", after, m) }})
		for path, texts := range committed {
			if err := holds(again, path, texts); err != nil {
				t.Fatalf("operation %d: %v", after, err)
			}
		}
		texts, b := stubFile("/next", 30)
		commit(t, again, b)
		checkFileIn(t, again, "/next", texts)
		for path, texts := range committed {
			checkFileIn(t, again, path, texts)
		}
		if len(committed) == files {
			t.Logf("%d operations", after)
			return
		}
	}
}

// damaged makes an index of a few files, damages it, and looks whether what
// is there still is right: whatever is found must be what was put in, and
// after a commit of the same all must be there again.
type damaged struct {
	dir   string
	texts map[string][]string
	batch []Batch
	files map[string][]byte // by name: as they were
}

func newDamaged(t *testing.T) *damaged {
	d := &damaged{dir: memoryDir(t), texts: map[string][]string{}, files: map[string][]byte{}}
	x := openTest(t, d.dir, Options{})
	for i := range 4 {
		path := fmt.Sprint("/", i)
		texts, b := stubFile(path, 5+i)
		d.texts[path] = texts
		d.batch = append(d.batch, b)
		commit(t, x, b)
	}
	for _, name := range []string{dbName, segmentName(1), spaceName} {
		data, err := os.ReadFile(x.path(name))
		if err != nil {
			t.Fatal(err)
		}
		d.files[x.path(name)] = data
	}
	return d
}

// with puts all files back, but for one, and checks what is there.
func (d *damaged) with(t *testing.T, name string, data []byte, what string) {
	t.Helper()
	dir := filepath.Dir(name)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for n, whole := range d.files {
		if n == name {
			whole = data
		}
		if whole == nil {
			continue
		}
		if err := os.WriteFile(n, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := openTest(t, d.dir, Options{})
	for path, texts := range d.texts {
		if err := d.check(x, path, texts, false); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if lost, err := x.Commit(context.Background(), d.again()); err != nil || len(lost) > 0 {
		t.Fatalf("%s: commit: %v, lost %v", what, err, lost)
	}
	for path, texts := range d.texts {
		if err := d.check(x, path, texts, true); err != nil {
			t.Fatalf("%s: after a commit: %v", what, err)
		}
	}
}

// again is all there is, to take the place of what is damaged.
func (d *damaged) again() (all Batch) {
	for _, b := range d.batch {
		all.Chunks = append(all.Chunks, b.Chunks...)
		all.Contents = append(all.Contents, b.Contents...)
		all.Files = append(all.Files, b.Files...)
	}
	for i := range all.Chunks {
		all.Chunks[i].Replace = true
	}
	return all
}

// check looks at the sound chunks of a file: all must be there, or those that
// are must be right.
func (d *damaged) check(x *Index, path string, texts []string, all bool) error {
	var pieces []Piece
	var segments *Segments
	err := x.Read(context.Background(), func(r *Reader) (err error) {
		segments.Close()
		pieces = nil
		if f, ok := r.File(path); ok {
			if f.Content != KeyOf("content", path) || f.Size != 100 {
				return fmt.Errorf("%s has another's record", path)
			}
			pieces, _ = r.Content(f.Content)
		}
		segments, err = r.Segments()
		return err
	})
	if err != nil {
		return err
	}
	defer segments.Close()
	if len(pieces) == 0 && !all {
		return nil
	}
	if len(pieces) != len(texts) {
		return fmt.Errorf("%s has %d pieces of %d", path, len(pieces), len(texts))
	}
	var refs []Ref
	for _, p := range pieces {
		refs = append(refs, p.Ref)
	}
	bad, err := segments.Verify(refs)
	if err != nil {
		return err
	}
	if all && len(bad) > 0 {
		return fmt.Errorf("%s: %d bad", path, len(bad))
	}
	for i := range pieces {
		if len(bad) > 0 && bad[0] == i {
			bad = bad[1:]
			continue
		}
		if err := sound(segments, pieces[i:i+1], texts[i:i+1]); err != nil {
			return fmt.Errorf("%s, piece %d: %w", path, i, err)
		}
	}
	return nil
}

// stride is how many bytes apart damage is tried.
func stride(size int) int {
	return max(1, size/effort.Of(100, 100, 700, 2000))
}

// A bit that has flipped changes no result, anywhere in any file.
func TestBitFlips(t *testing.T) {
	d := newDamaged(t)
	for name, whole := range d.files {
		step := stride(len(whole))
		for at := 0; at < len(whole); at += step {
			data := bytes.Clone(whole)
			data[at] ^= 1 << (at / step % 8)
			d.with(t, name, data, fmt.Sprintf("%s, byte %d", filepath.Base(name), at))
		}
	}
}

// Wherever a file ends, no result changes.
func TestTruncated(t *testing.T) {
	d := newDamaged(t)
	for name, whole := range d.files {
		d.with(t, name, nil, filepath.Base(name)+" is missing")
		for at := 0; at < len(whole); at += stride(len(whole)) * 2 {
			d.with(t, name, whole[:at], fmt.Sprintf("%s, cut to %d bytes", filepath.Base(name), at))
		}
	}
}

// Pages of zeros or of another file are what a disk leaves after a crash.
func TestPagesLost(t *testing.T) {
	d := newDamaged(t)
	const page = 4096
	for name, whole := range d.files {
		for at := 0; at < len(whole); at += page {
			end := min(at+page, len(whole))
			zeros, other := bytes.Clone(whole), bytes.Clone(whole)
			clear(zeros[at:end])
			copy(other[at:end], whole[len(whole)/2:])
			d.with(t, name, zeros, fmt.Sprintf("%s, zeros at %d", filepath.Base(name), at))
			d.with(t, name, other, fmt.Sprintf("%s, others at %d", filepath.Base(name), at))
		}
	}
}

// A damaged index.db is set aside with a message, and nothing that was embedded
// is lost.
func TestRebuild(t *testing.T) {
	d := newDamaged(t)
	for name, whole := range d.files {
		if filepath.Base(name) != dbName {
			continue
		}
		data := bytes.Clone(whole)
		for i := range data[:3*os.Getpagesize()] {
			data[i] ^= 0xff
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var said []string
		x := openTest(t, d.dir, Options{Warn: func(m string) { said = append(said, m) }})
		err := x.Read(context.Background(), func(r *Reader) error {
			for _, b := range d.batch {
				for _, c := range b.Chunks {
					if _, ok := r.Chunk(c.Key); !ok {
						t.Error("a chunk is lost")
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(said) != 1 || !strings.Contains(said[0], name) || !strings.Contains(said[0], "26 vectors") {
			t.Errorf("%q", said)
		}
		aside, err := os.ReadFile(x.path(asideName))
		if err != nil || !bytes.Equal(aside, data) {
			t.Errorf("what was damaged is not kept: %v", err)
		}
	}
}
