// Package dynlib opens shared libraries at run time, without cgo: how drivers
// are reached. A library that is not there is an error value, never a program
// that does not start. On Linux a program that contains this package is linked
// dynamically, which is why only gpu brings it in.
package dynlib

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// Spec says where a library may be found.
type Spec struct {
	API string // for people: "OpenCL"
	// Names are tried in order: a file that the system's loader searches for, or
	// a whole path.
	Linux, Darwin, Windows []string
	Remedy                 string // what to install
}

// Names are the candidates on this system.
func (s *Spec) Names() []string {
	switch runtime.GOOS {
	case "linux":
		return s.Linux
	case "darwin":
		return s.Darwin
	case "windows":
		return s.Windows
	}
	return nil
}

// NotFoundError says that no candidate could be opened.
type NotFoundError struct {
	API     string
	Tried   []string
	Reasons []string // of the system's loader, for each that was tried
	Remedy  string
}

func (e *NotFoundError) Error() string {
	if len(e.Tried) == 0 {
		return fmt.Sprintf("%s: not looked for on %s/%s", e.API, runtime.GOOS, runtime.GOARCH)
	}
	text := fmt.Sprintf("%s: %s not found", e.API, strings.Join(e.Tried, ", "))
	if broken := e.broken(); broken != "" {
		text = fmt.Sprintf("%s: %s", e.API, broken)
	}
	if e.Remedy != "" {
		text += ": " + e.Remedy
	}
	return text
}

// broken is the loader's complaint about a library that is there but cannot be
// loaded: one that it needs is missing, or it is for another processor.
func (e *NotFoundError) broken() string {
	for i, reason := range e.Reasons {
		if !absent(e.Tried[i], reason) {
			return reason
		}
	}
	return ""
}

// Library is an open library. It is never closed: drivers leave threads and
// handlers behind that run in its code.
type Library struct {
	Name   string // the candidate that was found
	handle uintptr
}

// ErrUnsupported is what a system without a loader answers.
var ErrUnsupported = errors.New("libraries cannot be opened on " + runtime.GOOS + "/" + runtime.GOARCH)

// Open opens the first candidate that can be. Signal handlers of Go that the
// library replaces are put back.
func Open(s Spec) (*Library, error) {
	e := &NotFoundError{API: s.API, Remedy: s.Remedy}
	for _, name := range s.Names() {
		restore := KeepSignals()
		handle, err := open(name)
		restore()
		if err == nil {
			return &Library{Name: name, handle: handle}, nil
		}
		e.Tried, e.Reasons = append(e.Tried, name), append(e.Reasons, err.Error())
	}
	return nil, e
}

// Symbol is the address of a function.
func (l *Library) Symbol(name string) (uintptr, error) {
	p, err := symbol(l.handle, name)
	if err != nil || p == 0 {
		return 0, fmt.Errorf("%s has no function %s: %w", l.Name, name, errors.Join(err, errNoSymbol))
	}
	return p, nil
}

var errNoSymbol = errors.New("its version is too old")

// Call calls a C function with integers and pointers. A pointer to Go memory is
// converted in the argument list itself, as in uintptr(unsafe.Pointer(&x)),
// which keeps x alive and in place until the call returns; what x points to in
// turn must be held by a runtime.Pinner.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) uintptr { return call(fn, args) }

// CallHeld is Call for what is called often: it allocates nothing, and keeps
// nothing alive. What the pointers point to is on the heap or of C, never on a
// stack, which may move, and the caller holds it until the call returns.
func CallHeld(fn uintptr, args ...uintptr) uintptr {
	f := frames.Get().(*[maxArgs]uintptr)
	copy(f[:len(args)], args)
	r := call(fn, f[:len(args)])
	frames.Put(f)
	return r
}

// maxArgs is more than any function has that is called by CallHeld.
const maxArgs = 16

// frames are argument lists: those given to purego must be on the heap.
var frames = sync.Pool{New: func() any { return new([maxArgs]uintptr) }}

// Callback is a function of C that calls fn, whose parameters and result are
// integers and pointers. It may be called from any thread. It is never freed,
// and there may be some hundreds of them: make one, not one for each use.
func Callback(fn any) uintptr { return callback(fn) }

// CString is s as C reads it.
func CString(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}

// GoString is a text of C up to its end.
func GoString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
