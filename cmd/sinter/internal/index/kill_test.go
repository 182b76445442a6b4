package index

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/effort"
)

// writerVariable makes a test process a writer: number of the first file,
// passages of a file, milliseconds between commits, folder.
const writerVariable = "SINTER_TEST_WRITER"

// TestWriterProcess is what startWriter starts: it commits one file after the
// other, and says so, until it is killed.
func TestWriterProcess(t *testing.T) {
	setting := os.Getenv(writerVariable)
	if setting == "" {
		t.Skip("a process of other tests")
	}
	var dir string
	var first, passages, pause int
	if _, err := fmt.Sscanf(setting, "%d %d %d %s", &first, &passages, &pause, &dir); err != nil {
		t.Fatal(err)
	}
	maxSegment = 256 << 10
	x := openTest(t, dir, Options{Warn: func(m string) { fmt.Println("warning:", m) }})
	for i := first; ; i++ {
		_, b := stubFile(fmt.Sprint("/", i), passages)
		if lost, err := x.Commit(context.Background(), b); err != nil || len(lost) > 0 {
			fmt.Println("warning:", err, lost)
			os.Exit(1)
		}
		fmt.Println("committed", i)
		time.Sleep(time.Duration(pause) * time.Millisecond)
	}
}

// writerProcess is a process that commits files.
type writerProcess struct {
	*exec.Cmd
	out       *bufio.Scanner
	committed []int
	warnings  []string
}

func startWriter(t *testing.T, dir string, first, passages, pause int) *writerProcess {
	t.Helper()
	w := &writerProcess{Cmd: exec.Command(os.Args[0], "-test.run", "^TestWriterProcess$")}
	w.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d %s", writerVariable, first, passages, pause, dir))
	out, err := w.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.Stderr = io.Discard
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	w.out = bufio.NewScanner(out)
	return w
}

// next waits for a file to be committed; false: the process has ended.
func (w *writerProcess) next() bool {
	if !w.out.Scan() {
		return false
	}
	number, ok := strings.CutPrefix(w.out.Text(), "committed ")
	if n, err := strconv.Atoi(number); ok && err == nil {
		w.committed = append(w.committed, n)
	} else {
		w.warnings = append(w.warnings, w.out.Text())
	}
	return true
}

// kill ends the process without warning, and reads what it still said.
func (w *writerProcess) kill() {
	_ = w.Process.Kill()
	for w.next() {
	}
	_ = w.Wait()
}

// A process that is killed, at whatever moment, loses nothing that was
// committed, and leaves nothing that is wrong. All write to one index, two at a
// time now and then.
func TestKills(t *testing.T) {
	kills := effort.Of(4, 8, 60, 200)
	dir := memoryDir(t)
	const passages = 40
	r := rand.New(rand.NewPCG(7, 8))
	committed := map[int]bool{}
	for kill := range kills {
		writers := []*writerProcess{startWriter(t, dir, 1000*kill, passages, 0)}
		if kill%3 == 0 {
			writers = append(writers, startWriter(t, dir, 1000*kill+500, passages, 0))
		}
		// A moment anywhere within a few commits or, every fourth time, while the process starts.
		if kill%4 > 0 {
			writers[0].next()
		}
		time.Sleep(time.Duration(r.Int64N(int64(12 * time.Millisecond))))
		for _, w := range writers {
			w.kill()
			if len(w.warnings) > 0 && !strings.HasPrefix(w.warnings[0], "PASS") {
				t.Fatalf("kill %d: %q", kill, w.warnings)
			}
			for _, n := range w.committed {
				committed[n] = true
			}
		}
		if kill%10 == 9 || kill == kills-1 {
			checkCommitted(t, dir, committed, passages)
		}
	}
	t.Logf("%d files survived %d kills", len(committed), kills)
	if len(committed) < kills/2 {
		t.Errorf("only %d files were committed: the kills came too early", len(committed))
	}
}

// checkCommitted fails unless all files are there, and every chunk that the
// index knows is sound.
func checkCommitted(t *testing.T, dir string, committed map[int]bool, passages int) {
	t.Helper()
	x := openTest(t, dir, Options{Warn: func(m string) { t.Error(m) }})
	for n := range committed {
		path := fmt.Sprint("/", n)
		texts, _ := stubFile(path, passages)
		if err := holds(x, path, texts); err != nil {
			t.Fatal(err)
		}
	}
	err := x.Read(context.Background(), func(r *Reader) error {
		segments, err := r.Segments()
		if err != nil {
			return err
		}
		defer segments.Close()
		var refs []Ref
		err = r.tx.each(tableChunks, func(key, value []byte) error {
			ref, _ := decodeRef(value)
			if k, ok := segments.Key(ref); !ok || k != Key(key) {
				return fmt.Errorf("a chunk lies elsewhere")
			}
			refs = append(refs, ref)
			return nil
		})
		if err != nil {
			return err
		}
		bad, err := segments.Verify(refs)
		if len(bad) > 0 || r.tx.damaged > 0 {
			return fmt.Errorf("%d of %d chunks are damaged, and %d entries", len(bad), len(refs), r.tx.damaged)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// While two processes write, a reader finds what is finished within a second.
// They commit every 50 ms, where a search does every 2 s.
func TestTwoWritersAndAReader(t *testing.T) {
	dir := memoryDir(t)
	a, b := startWriter(t, dir, 0, 200, 50), startWriter(t, dir, 100000, 200, 50)
	defer a.kill()
	defer b.kill()
	x := openTest(t, dir, Options{})
	var longest time.Duration
	for range 10 {
		if !a.next() || !b.next() {
			t.Fatalf("a writer has ended: %q %q", a.warnings, b.warnings)
		}
		for _, w := range []*writerProcess{a, b} {
			n := w.committed[len(w.committed)-1]
			path := fmt.Sprint("/", n)
			texts, _ := stubFile(path, 200)
			start := time.Now()
			if err := holds(x, path, texts); err != nil {
				t.Fatal(err)
			}
			longest = max(longest, time.Since(start))
		}
	}
	t.Logf("longest wait %v", longest)
	if longest > time.Second {
		t.Errorf("a reader waited %v", longest)
	}
}
