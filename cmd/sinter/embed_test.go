package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// readNPY reads what numpy.load would, checking all that it checks.
func readNPY(t testing.TB, data []byte) (rows, columns int, values []float32) {
	t.Helper()
	if len(data) < 10 || string(data[:8]) != "\x93NUMPY\x01\x00" {
		t.Fatalf("not a NumPy file: %.20q", data)
	}
	end := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	header := string(data[10:end])
	if end%64 != 0 || header[len(header)-1] != '\n' {
		t.Errorf("a header of %d bytes: %q", end, header)
	}
	if _, err := fmt.Sscanf(header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", &rows, &columns); err != nil {
		t.Fatalf("%v: %s", err, header)
	}
	values = make([]float32, rows*columns)
	if n, err := binary.Decode(data[end:], binary.LittleEndian, values); err != nil || end+n != len(data) {
		t.Fatalf("%d bytes of %d values: %v", len(data)-end, len(values), err)
	}
	return rows, columns, values
}

// The vectors are the same in every format and at every place.
func TestEmbedFormats(t *testing.T) {
	model, dir := tiny(t, nil), t.TempDir()
	in := "one text\nanother\n\na third one\n"
	want := ok(t, in, "embed", "--model", model)
	file := filepath.Join(dir, "x.jsonl")
	if out := ok(t, in, "embed", "--model", model, "--output", file); out != "" {
		t.Errorf("output beside the file: %s", out)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%v: the file holds %.100s", err, got)
	}
	npy := filepath.Join(dir, "x.npy")
	ok(t, in, "embed", "--model", model, "--format", "npy", "-o", npy)
	data, err := os.ReadFile(npy)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range [][]string{nil, {"-o", "-"}} {
		if out := ok(t, in, append([]string{"embed", "--model", model, "--format", "npy"}, to...)...); out != string(data) {
			t.Errorf("%v: standard output is another file", to)
		}
	}
	rows, columns, values := readNPY(t, data)
	for _, r := range parse[embedded](t, want) {
		if got := values[r.Index*columns:][:columns]; !slices.Equal(got, r.Embedding) {
			t.Errorf("row %d: %v, want %v", r.Index, got, r.Embedding)
		}
	}
	if rows, columns, _ := readNPY(t, []byte(ok(t, "", "embed", "--model", model, "--format", "npy"))); rows != 0 || columns != tinyHidden {
		t.Errorf("no texts are %d rows of %d", rows, columns)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || rows != 4 || len(names) != 2 {
		t.Errorf("%d rows; files %v, %v", rows, names, err)
	}
}

// A run that fails leaves the file that was there, and nothing else.
func TestOutputOnlyComplete(t *testing.T) {
	model, dir := tiny(t, nil), t.TempDir()
	file := filepath.Join(dir, "x")
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, _ := runCommand(t, nil, "\"a\"\nb\n", "embed", "--model", model, "--jsonl", "-o", file)
	got, err := os.ReadFile(file)
	names, _ := os.ReadDir(dir)
	if status != statusFailed || err != nil || string(got) != "before" || len(names) != 1 {
		t.Errorf("status %d, the file holds %q, %v, of %d files", status, got, err, len(names))
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	ok(t, "", "embed", "--model", model, "-o", link, "x")
	info, err := os.Lstat(link)
	got, _ = os.ReadFile(file)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.HasPrefix(string(got), "{") {
		t.Errorf("the link was replaced: %v, %v; %.20s", info, err, got)
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// What is no regular file is written to, not replaced.
// A file that is replaced keeps its mode, whatever the umask would take of it.
func TestOutputKeepsMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	file := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o622); err != nil {
		t.Fatal(err)
	}
	ok(t, "", "embed", "--model", tiny(t, nil), "-o", file, "x")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o622 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestOutputDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no /dev")
	}
	a := &app{}
	out, err := a.createOutput(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if out.seekable() != nil || out.close(nil) != nil {
		t.Error("taken for a file")
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// Shorter vectors are the start of the long ones, for models that list their
// size.
func TestShorten(t *testing.T) {
	model := tiny(t, func(name string, data []byte) []byte {
		if name == "config.json" {
			return bytes.Replace(data, []byte("{"), []byte(`{"matryoshka_dimensions": [4, 8], `), 1)
		}
		return data
	})
	long := parse[embedded](t, ok(t, "", "embed", "--model", model, "x"))[0].Embedding
	short := parse[embedded](t, ok(t, "", "embed", "--model", model, "--dim", "8", "x"))[0].Embedding
	if !slices.Equal(short, long[:8]) {
		t.Errorf("%v of %v", short, long)
	}
	unit := parse[embedded](t, ok(t, "", "embed", "--dim", "8", "--any-dim", "x"))[0].Embedding
	norm := 0.0
	for _, v := range unit {
		norm += float64(v) * float64(v)
	}
	if len(unit) != 8 || !(math.Abs(norm-1) <= 1e-6) {
		t.Errorf("%d numbers, of length %v", len(unit), math.Sqrt(norm))
	}
	status, _, stderr := runCommand(t, nil, "", "embed", "--model", model, "--dim", "6", "x")
	if status != statusUsage || !strings.Contains(stderr, "was trained for 4, 8") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if v := ok(t, "", "embed", "--model", model, "--dim", "32", "x"); v != ok(t, "", "embed", "--model", model, "x") {
		t.Error("the full size changes the vector")
	}
}

// The queue holds one batch at a time: a reader waits, however fast.
func TestTextQueue(t *testing.T) {
	for _, size := range []int{1, batchBytes / 4, 3 * batchBytes} {
		q := newTextQueue()
		const n = 3 * batchTexts
		text := strings.Repeat("x", size)
		go func() {
			for range n {
				q.put(text)
			}
			q.end(nil)
		}()
		for got := 0; ; {
			texts, more, err := q.take()
			if err != nil || len(texts) > batchTexts || len(texts) > 1 && len(texts)*size > batchBytes {
				t.Fatalf("%d texts of %d bytes: %v", len(texts), size, err)
			}
			if got += len(texts); !more {
				if got != n {
					t.Errorf("%d texts of %d", got, n)
				}
				break
			}
		}
	}
	q := newTextQueue()
	q.stop()
	if _, more, err := q.take(); q.put("x") || more || err != nil {
		t.Error("a stopped queue goes on")
	}
}

// A model that does not say how its vectors are made is used with a warning.
func TestAssumedPooling(t *testing.T) {
	plain, sure := tiny(t, nil), tiny(t, nil)
	if err := os.Remove(filepath.Join(plain, "modules.json")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("rain"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"embed", "rain"}, {"search", "rain", dir}} {
		for _, c := range []struct {
			model, quiet string
			want         int
		}{{plain, "", 1}, {plain, "--quiet", 0}, {sure, "", 0}} {
			line := append(args[:1:1], "--model", c.model)
			if c.quiet != "" {
				line = append(line, c.quiet)
			}
			status, _, stderr := runCommand(t, nil, "", append(line, args[1:]...)...)
			if status != 0 || strings.Count(stderr, "no modules.json") != c.want {
				t.Errorf("%s %s: status %d, %q", args[0], c.quiet, status, stderr)
			}
		}
	}
}
