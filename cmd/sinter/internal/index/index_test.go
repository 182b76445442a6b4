package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/timetest"
)

const testDim = 24

var testSpace = Space{Model: "stub", DType: "f32", Dim: testDim, ID: KeyOf("stub")}

// stubVector is the vector of a text: of length 1, and the same each time.
func stubVector(k Key) []float32 {
	r := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(k[:]), binary.LittleEndian.Uint64(k[8:])))
	v := make([]float32, testDim)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func stubTerms(text string) []byte { return []byte("terms of " + text) }

// stubChunk is what a search would keep of a passage.
func stubChunk(text string) Chunk {
	k := KeyOf(text)
	return Chunk{Key: k, Vector: Float16(stubVector(k)), Terms: stubTerms(text)}
}

// stubFile is a file of so many passages, with all that is kept of it.
func stubFile(path string, passages int) (texts []string, b Batch) {
	content := Content{Key: KeyOf("content", path)}
	for i := range passages {
		text := fmt.Sprintf("%s, passage %d", path, i)
		texts = append(texts, text)
		c := stubChunk(text)
		b.Chunks = append(b.Chunks, c)
		content.Pieces = append(content.Pieces, Piece{Line: 10*i + 1, End: 10*i + 12, Size: len(text), Chunk: c.Key})
	}
	b.Contents = []Content{content}
	b.Files = []FileAt{{path, File{Stat: Stat{Size: 100, MTime: 5}, Read: 1 << 60, Content: content.Key}}}
	return texts, b
}

func openTest(t testing.TB, dir string, o Options) *Index {
	t.Helper()
	x, err := Open(dir, testSpace, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func commit(t testing.TB, x *Index, b Batch) {
	t.Helper()
	lost, err := x.Commit(context.Background(), b)
	if err != nil || len(lost) > 0 {
		t.Fatalf("commit: %v, lost %v", err, lost)
	}
}

// checkFileIn fails unless all that stubFile made is there.
func checkFileIn(t testing.TB, x *Index, path string, texts []string) {
	t.Helper()
	if err := holds(x, path, texts); err != nil {
		t.Fatal(err)
	}
}

func holds(x *Index, path string, texts []string) error {
	var pieces []Piece
	var segments *Segments
	err := x.Read(context.Background(), func(r *Reader) error {
		f, ok := r.File(path)
		if !ok {
			return fmt.Errorf("%s is not there", path)
		}
		if pieces, ok = r.Content(f.Content); !ok {
			return fmt.Errorf("the content of %s is not there", path)
		}
		var err error
		segments, err = r.Segments()
		return err
	})
	if err != nil {
		return err
	}
	defer segments.Close()
	if len(pieces) != len(texts) {
		return fmt.Errorf("%s has %d pieces and not %d", path, len(pieces), len(texts))
	}
	return sound(segments, pieces, texts)
}

// sound checks records against what stubChunk makes.
func sound(s *Segments, pieces []Piece, texts []string) error {
	var refs []Ref
	for _, p := range pieces {
		refs = append(refs, p.Ref)
	}
	if bad, err := s.Verify(refs); err != nil || len(bad) > 0 {
		return fmt.Errorf("verify: %v, bad %v", err, bad)
	}
	query := stubVector(KeyOf("query"))
	scores := make([]float32, len(refs))
	if err := s.Scores(context.Background(), nil, query, refs, scores); err != nil {
		return err
	}
	terms := s.Terms(refs)
	for i, text := range texts {
		want := stubChunk(text)
		if k, ok := s.Key(refs[i]); !ok || k != want.Key {
			return fmt.Errorf("passage %d has another's key", i)
		}
		if string(terms[i]) != string(want.Terms) {
			return fmt.Errorf("passage %d has the terms %q", i, terms[i])
		}
		if d := scores[i] - Dot(query, want.Vector); !(math.Abs(float64(d)) <= 1e-6) {
			return fmt.Errorf("passage %d scores %g, off by %g", i, scores[i], d)
		}
	}
	return nil
}

func TestCommitAndRead(t *testing.T) {
	dir := t.TempDir()
	x := openTest(t, dir, Options{})
	err := x.Read(context.Background(), func(r *Reader) error {
		if _, ok := r.File("/a"); ok {
			t.Error("an empty index has a file")
		}
		s, err := r.Segments()
		s.Close()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	a, batchA := stubFile("/a", 5)
	b, batchB := stubFile("/b", 300)
	commit(t, x, batchA)
	commit(t, x, batchB)
	later := time.Now().Add(time.Minute)
	x.now = func() time.Time { return later }
	commit(t, x, Batch{Roots: []string{"/"}})
	again := openTest(t, dir, Options{})
	checkFileIn(t, again, "/a", a)
	checkFileIn(t, again, "/b", b)
	list, err := List(context.Background(), dir)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if s := list[0]; s.Files != 2 || s.Chunks != 305 || s.Model != "stub" || len(s.Roots) != 1 || s.Bytes < 305*2*testDim || s.Made.IsZero() || s.Damage != "" || !s.Used.Equal(s.Roots[0].Used) {
		t.Errorf("%+v", s)
	}
}

func TestPermissions(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("this system has other permissions")
	}
	dir := filepath.Join(t.TempDir(), "index")
	x := openTest(t, dir, Options{})
	_, b := stubFile("/a", 1)
	commit(t, x, b)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The first who commits a chunk is right about it, the second adds nothing.
func TestSameChunkTwice(t *testing.T) {
	dir := t.TempDir()
	x, y := openTest(t, dir, Options{}), openTest(t, dir, Options{})
	texts, b := stubFile("/a", 20)
	commit(t, x, b)
	size := segmentBytes(t, x)
	commit(t, y, b)
	if now := segmentBytes(t, x); now != size {
		t.Errorf("%d bytes became %d", size, now)
	}
	checkFileIn(t, x, "/a", texts)
}

func segmentBytes(t *testing.T, x *Index) (size int64) {
	numbers, err := segmentNumbers(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		info, err := os.Stat(x.segmentPath(n))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}

// A content whose chunks another process has pruned is not kept.
func TestLostContent(t *testing.T) {
	x := openTest(t, t.TempDir(), Options{})
	_, b := stubFile("/a", 3)
	b.Chunks = b.Chunks[:2]
	lost, err := x.Commit(context.Background(), b)
	if err != nil || !slices.Equal(lost, []Key{b.Contents[0].Key}) {
		t.Errorf("lost %v: %v", lost, err)
	}
	if err := holds(x, "/a", nil); err == nil || !strings.Contains(err.Error(), "content") {
		t.Error(err)
	}
}

func TestSegmentsRoll(t *testing.T) {
	old := maxSegment
	t.Cleanup(func() { maxSegment = old })
	maxSegment = 4 << 10
	x := openTest(t, t.TempDir(), Options{})
	all := map[string][]string{}
	for i := range 20 {
		path := fmt.Sprintf("/%d", i)
		texts, b := stubFile(path, 17)
		all[path] = texts
		commit(t, x, b)
	}
	if n, _ := segmentNumbers(x.dir); len(n) < 5 {
		t.Errorf("%d segments", len(n))
	}
	for path, texts := range all {
		checkFileIn(t, x, path, texts)
	}
}

// What a reader has mapped stays, whatever happens to the index.
func TestSegmentsOutlive(t *testing.T) {
	dir := t.TempDir()
	x := openTest(t, dir, Options{})
	texts, b := stubFile("/a", 50)
	commit(t, x, b)
	var pieces []Piece
	var s *Segments
	err := x.Read(context.Background(), func(r *Reader) (err error) {
		pieces, _ = r.Content(b.Contents[0].Key)
		s, err = r.Segments()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if os.PathSeparator != '\\' { // which keeps what is open
		if _, err := Prune(context.Background(), dir, PruneOptions{All: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := sound(s, pieces, texts); err != nil {
		t.Error(err)
	}
}

func TestSpacesAreApart(t *testing.T) {
	dir := t.TempDir()
	x := openTest(t, dir, Options{})
	_, b := stubFile("/a", 2)
	commit(t, x, b)
	other := testSpace
	other.DType = "int8"
	y, err := Open(dir, other, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := holds(y, "/a", nil); err == nil {
		t.Error("a file is known in another number format")
	}
	if _, err := Open(dir, Space{Dim: 1 << 20}, Options{}); err == nil { // and nothing is there yet
		t.Error("a vector of a million numbers")
	}
	if _, err := x.Commit(context.Background(), Batch{Chunks: []Chunk{{Vector: make([]uint16, 3)}}}); err == nil {
		t.Error("a vector of another length")
	}
}

// Who writes and is slow keeps nobody from reading.
func TestReadBesideWriter(t *testing.T) {
	x := openTest(t, memoryDir(t), Options{})
	texts, b := stubFile("/a", 20)
	commit(t, x, b)
	err := x.update(context.Background(), func(w *tx) error {
		if err := w.put(tableFiles, []byte("/a"), nil); err != nil {
			return err
		}
		timetest.Within(t, time.Second, "reading", func() { checkFileIn(t, x, "/a", texts) })
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		defer cancel()
		if err := x.Read(ctx, func(*Reader) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		return errors.New("not committed")
	})
	if err == nil || err.Error() != "not committed" {
		t.Error(err)
	}
	checkFileIn(t, x, "/a", texts)
	if left, err := filepath.Glob(filepath.Join(x.dir, "copy-*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestBusy(t *testing.T) {
	x := openTest(t, memoryDir(t), Options{})
	busy := func() string {
		t.Helper()
		roots, err := x.Busy()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(roots, " ")
	}
	_, done, err := x.Announce(t.Context(), []string{"/a", "/b"})
	if err != nil {
		t.Fatal(err)
	}
	if got := busy(); got != "/a /b" {
		t.Errorf("%q", got)
	}
	done()
	if got := busy(); got != "" {
		t.Errorf("%q after all was done", got)
	}
	if !Below("/a/b/c", []string{"/x", "/a"}) || !Below("/a", []string{"/a"}) || Below("/ab", []string{"/a"}) || Below("/", []string{"/a"}) {
		t.Error("what is below what")
	}
}

func TestSame(t *testing.T) {
	const second = int64(time.Second)
	at := Stat{Size: 10, MTime: 1000*second + 5, CTime: 1000*second + 5, Inode: 7}
	coarse := Stat{Size: 10, MTime: 1000 * second}
	later := func(s Stat) Stat { s.CTime++; return s }
	for _, c := range []struct {
		name string
		file File
		now  Stat
		same bool
	}{
		{"read long after", File{Stat: at, Read: 1010 * second}, at, true},
		{"changed since", File{Stat: at, Read: 1010 * second}, later(at), false},
		{"read within a tick of the change", File{Stat: at, Read: at.MTime + 4e6}, at, false},
		{"changed after it was read", File{Stat: at, Read: 999 * second}, at, false},
		{"whole seconds, two later", File{Stat: coarse, Read: 1002 * second}, coarse, false},
		{"whole seconds, long after", File{Stat: coarse, Read: 1010 * second}, coarse, true},
		{"changed while it was read", File{Stat: at}, at, false},
	} {
		if got := c.file.Same(c.now); got != c.same {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// A change of equal size within the granularity of the clock is seen.
func TestRacyChange(t *testing.T) {
	name := filepath.Join(memoryDir(t), "file")
	write := func(text string) Stat {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return StatOf(info)
	}
	equal := 0
	for range 100 {
		before := write("aaaa")
		f := File{Stat: before, Read: time.Now().UnixNano()}
		after := write("bbbb")
		if after == before {
			equal++
		}
		if f.Same(after) {
			t.Fatal("a change right after the read was not seen")
		}
	}
	t.Logf("%d of 100 changes left the stamps as they were", equal)
}

func TestKeyOf(t *testing.T) {
	if KeyOf("ab", "c") == KeyOf("a", "bc") {
		t.Error("where a part ends does not matter")
	}
}

func containsText(err error, text string) bool {
	return err != nil && strings.Contains(err.Error(), text)
}
