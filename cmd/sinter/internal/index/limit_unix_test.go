//go:build unix

package index

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const limitVariable = "SINTER_TEST_LIMIT"

// TestLimitedProcess is what TestRealLimit starts.
func TestLimitedProcess(t *testing.T) {
	dir := os.Getenv(limitVariable)
	if dir == "" {
		t.Skip("a process of another test")
	}
	const most = 160 << 10 // bytes of a file
	signal.Ignore(syscall.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: most}); err != nil {
		t.Fatal(err)
	}
	maxSegment = 64 << 10 // so that index.db is the first to be too large
	x := openTest(t, dir, Options{})
	for i := range 200 {
		_, b := stubFile(fmt.Sprint("/", i), 40)
		// bbolt keeps the text of the system's error, not the error.
		if _, err := x.Commit(context.Background(), b); containsText(err, syscall.EFBIG.Error()) {
			fmt.Println("refused", i)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		fmt.Println("committed", i)
	}
}

// Where the system itself refuses to write, to segments or to index.db, a
// commit fails and nothing else.
func TestRealLimit(t *testing.T) {
	dir := memoryDir(t)
	c := exec.Command(os.Args[0], "-test.run", "^TestLimitedProcess$")
	c.Env = append(os.Environ(), limitVariable+"="+dir)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	committed, refused := map[int]bool{}, 0
	for line := range strings.Lines(string(out)) {
		var i int
		if _, err := fmt.Sscanf(line, "committed %d", &i); err == nil {
			committed[i] = true
		}
		if strings.HasPrefix(line, "refused") {
			refused++
		}
	}
	t.Logf("%d committed, %d refused", len(committed), refused)
	if len(committed) == 0 || refused == 0 {
		t.Fatalf("%s", out)
	}
	checkCommitted(t, dir, committed, 40)
	x := openTest(t, dir, Options{})
	texts, b := stubFile("/last", 40)
	commit(t, x, b)
	checkFileIn(t, x, "/last", texts)
}
