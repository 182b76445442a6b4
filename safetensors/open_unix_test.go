//go:build unix

package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/timetest"
)

// What is no regular file is refused at once: a pipe would hold its reader, a
// device never end.
func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "no regular file", link: "no regular file", "/dev/zero": "no regular file", "/dev/null": "no regular file", dir: "a folder", "\x00": "invalid"} {
		var err error
		timetest.Within(t, time.Second, fmt.Sprintf("%q: refusing it", path), func() { _, err = Open(path) })
		var e *Error
		if !errors.As(err, &e) || e.File != path || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error that says %q", path, err, want)
		}
	}
	// A pipe that somebody opened already, and never writes to.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := OpenFile("pipe", r); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("open pipe: %v", err)
	}
}

// openTemp opens a file of that content, and tells where it is.
func openTemp(t *testing.T, data []byte) (*File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, path
}

// fault calls f and returns the memory fault that it ends with.
func fault(t *testing.T, f func()) (err error) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

var sink byte

func TestFaultNamesTheTensor(t *testing.T) {
	const size = 1 << 16
	f, path := openTemp(t, file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"U8","shape":[65536],"data_offsets":[0,65536]},`+
		`"c":{"dtype":"U8","shape":[65536],"data_offsets":[65536,131072]}}`, 2*size))
	if err := f.Intact(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]int{"b": size - 1, "c": size / 2} {
		x, _ := f.Tensor(name)
		err := f.Fault(fault(t, func() { sink = x.Data[at] }))
		var e *Error
		if !errors.As(err, &e) || e.File != path || e.Tensor != name || !strings.Contains(err.Error(), "shrank") {
			t.Errorf("reading %s: %v", name, err)
		}
	}
	// Faults elsewhere, and other errors, are none of its business.
	other, otherPath := openTemp(t, file(`{"x":{"dtype":"U8","shape":[65536],"data_offsets":[0,65536]}}`, size))
	if err := os.Truncate(otherPath, 0); err != nil {
		t.Fatal(err)
	}
	x, _ := other.Tensor("x")
	var e *Error
	if err := f.Fault(fault(t, func() { sink = x.Data[size/2] })); err == nil || errors.As(err, &e) {
		t.Errorf("a fault elsewhere: %v", err)
	}
	if err := f.Fault(os.ErrClosed); err != os.ErrClosed {
		t.Errorf("another error: %v", err)
	}
	if f.Fault(nil) != nil {
		t.Error("no error became one")
	}
}

func TestIntact(t *testing.T) {
	data := file(`{"x":{`+f32x2+`}}`, 8)
	for name, change := range map[string]func(path string) error{
		"cut short": func(path string) error { return os.Truncate(path, int64(len(data)-1)) },
		"grown":     func(path string) error { return os.Truncate(path, int64(len(data)+1)) },
		"written": func(path string) error {
			return os.Chtimes(path, time.Now(), time.Now().Add(time.Second))
		},
	} {
		f, path := openTemp(t, data)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		if err := f.Intact(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		// What was wrong once may still be in what was made of it.
		if err := errors.Join(os.WriteFile(path, data, 0o600), os.Chtimes(path, time.Time{}, info.ModTime())); err != nil {
			t.Fatal(err)
		}
		if f.Intact() == nil {
			t.Errorf("%s, then restored: no error", name)
		}
	}
	f, path := openTemp(t, data)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := f.Intact(); err != nil {
		t.Errorf("removed: %v", err)
	}
	parsed, err := Parse("x", data)
	if err != nil || parsed.Intact() != nil {
		t.Error("a parsed buffer changed:", err)
	}
}

func TestCheckFinite(t *testing.T) {
	tensor := func(name string, dt sinter.DType, bits ...uint64) Tensor {
		x := Tensor{Name: name, DType: dt, Shape: []int{len(bits)}}
		for _, b := range bits {
			x.Data = append(x.Data, binary.LittleEndian.AppendUint64(nil, b)[:dt.Size()]...)
		}
		return x
	}
	nan, inf := uint64(math.Float32bits(float32(math.NaN()))), uint64(math.Float32bits(float32(math.Inf(-1))))
	for _, c := range []struct {
		tensors []Tensor
		want    string // "" for no error
	}{
		{nil, ""},
		{[]Tensor{tensor("a", sinter.F32, 0, 0x7f7fffff, 0xff7fffff), tensor("b", sinter.I32, nan, inf), tensor("c", sinter.F16, 0x7bff, 0xfbff), tensor("d", sinter.BF16, 0xff7f), tensor("e", sinter.F64, 0xffefffffffffffff)}, ""},
		{[]Tensor{tensor("a", sinter.F32, inf), tensor("b", sinter.F32, 0, 0, nan)}, `"b": element 2 is not a number`},
		{[]Tensor{tensor("b", sinter.F32, 0, inf), tensor("a", sinter.F32, 0, inf, nan)}, `"a": element 2 is not a number`},
		{[]Tensor{tensor("b", sinter.F32, inf), tensor("a", sinter.F32, 0, inf)}, `"a": element 1 is infinite`},
		{[]Tensor{tensor("a", sinter.F16, 0x7c01)}, `"a": element 0 is not a number`},
		{[]Tensor{tensor("a", sinter.F16, 0xfc00)}, `"a": element 0 is infinite`},
		{[]Tensor{tensor("a", sinter.BF16, 0, 0xff81)}, `"a": element 1 is not a number`},
		{[]Tensor{tensor("a", sinter.F64, 0x7ff0000000000001)}, `"a": element 0 is not a number`},
	} {
		var b strings.Builder
		if err := Write(&b, c.tensors, nil); err != nil {
			t.Fatal(err)
		}
		f, path := openTemp(t, []byte(b.String()))
		err := f.CheckFinite()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	f, path := openTemp(t, file(`{"x":{"dtype":"F32","shape":[16384],"data_offsets":[0,65536]}}`, 1<<16))
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.CheckFinite(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("of a file that is gone: %v", err)
	}
}
