// Package safetensors reads and writes the safetensors format: named tensors
// behind a JSON header, laid out so that a file can be mapped into memory and
// used where it lies.
//
// Files are taken for hostile: everything the header says is checked against
// the bytes that are there before any tensor is handed out, and the memory a
// file makes the reader use is bounded by the file's own size.
package safetensors

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sinterml/sinter"
)

// Tensor is one tensor of a file: its elements in C order, little endian.
type Tensor struct {
	Name  string
	DType sinter.DType
	Shape []int  // empty for a scalar
	Data  []byte // exactly the elements; of a File: its memory, not to be changed
}

// File is an open file or a parsed buffer. It may be used from several
// goroutines, but not during or after Close. The zero File, and nil, hold no
// tensors.
type File struct {
	name     string
	tensors  []Tensor // by name
	metadata map[string]string
	data     []byte // all of it

	// Of a mapping alone.
	file    *os.File
	written time.Time             // when it was, last
	changed atomic.Pointer[error] // what Intact found
	unmap   func() error
}

// Error is a fault of a file, or of what is to be written to one.
type Error struct {
	File   string // "" when writing
	Tensor string // "" when no single tensor is at fault
	Offset int64  // in bytes from the start of the file
	Err    error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("safetensors: ")
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	if e.Tensor != "" {
		fmt.Fprintf(&b, "tensor %.100q: ", e.Tensor) // its length is the file's choice
	}
	if e.Offset != 0 {
		fmt.Fprintf(&b, "at byte %d: ", e.Offset)
	}
	if e.Err != nil { // the zero Error has none
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Parse reads a whole file held in memory; name is for errors. The tensors'
// data is that memory, so it must not change while they are in use.
func Parse(name string, data []byte) (*File, error) {
	n, err := headerSize(data[:min(len(data), prefixSize)], int64(len(data)))
	if err != nil {
		return nil, &Error{File: name, Err: err}
	}
	h, fault := parseHeader(string(data[prefixSize:][:n]))
	if fault == nil {
		fault = h.checkLayout(int64(len(data) - prefixSize - n))
	}
	if fault != nil {
		fault.File = name
		return nil, fault
	}
	return newFile(name, h, data), nil
}

// newFile is the file of a header that was checked against the data.
func newFile(name string, h *header, data []byte) *File {
	f := &File{name: name, metadata: h.metadata, data: data, tensors: make([]Tensor, len(h.entries))}
	for i, e := range h.entries {
		begin, end := prefixSize+h.size+int(e.begin), prefixSize+h.size+int(e.end)
		f.tensors[i] = Tensor{e.name, e.dtype, e.shape, data[begin:end:end]}
	}
	slices.SortFunc(f.tensors, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	return f
}

// A file starts with the header's length in bytes, as a uint64.
const prefixSize = 8

// maxHeader is the limit that the reference implementation sets.
const maxHeader = 100_000_000

// Name is the path or name the file was opened with.
func (f *File) Name() string {
	if f == nil {
		return ""
	}
	return f.name
}

// Names lists the tensors, sorted.
func (f *File) Names() []string {
	if f == nil {
		return nil
	}
	names := make([]string, len(f.tensors))
	for i, t := range f.tensors {
		names[i] = t.Name
	}
	return names
}

// Tensor finds a tensor by name.
func (f *File) Tensor(name string) (Tensor, bool) {
	if f == nil {
		return Tensor{}, false
	}
	i, found := slices.BinarySearchFunc(f.tensors, name, func(t Tensor, name string) int {
		return strings.Compare(t.Name, name)
	})
	if !found {
		return Tensor{}, false
	}
	t := f.tensors[i]
	t.Shape = slices.Clone(t.Shape)
	return t, true
}

// Metadata is the file's own table of free text; nil when it has none.
func (f *File) Metadata() map[string]string {
	if f == nil {
		return nil
	}
	return f.metadata
}

// Close gives the mapping back. The data of the file's tensors must not be
// used any more: reading it would fault. A parsed buffer stays the caller's.
func (f *File) Close() error {
	if f == nil {
		return &Error{Err: errors.New("no file to close: make one with Open")}
	}
	file, unmap := f.file, f.unmap
	f.tensors, f.data, f.file, f.unmap = nil, nil, nil, nil
	if unmap == nil {
		return nil
	}
	if err := errors.Join(unmap(), file.Close()); err != nil {
		return &Error{File: f.name, Err: err}
	}
	return nil
}
