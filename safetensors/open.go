package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"
)

// Open maps a file into memory, read-only, where the system can do that, and
// reads it into memory elsewhere. The tensors' data is the mapping: it is
// valid until Close, and only as long as nobody truncates or overwrites the
// file. What is no regular file (a folder, a pipe, a device) is refused.
//
// Once that has happened Intact gives an error. Reading what is gone is a fault,
// which ends the process unless debug.SetPanicOnFault makes it a panic; programs
// of package sinter return it as an error, which Fault explains.
func Open(path string) (*File, error) {
	// Opening a device can do something, so it is looked at before.
	info, err := os.Stat(path)
	if err == nil {
		err = checkRegular(info)
	}
	if err != nil {
		return nil, &Error{File: path, Err: err}
	}
	file, err := openFile(path)
	if err != nil {
		return nil, &Error{File: path, Err: err}
	}
	return OpenFile(path, file)
}

// OpenFile is Open for a file that is open already; name is for errors. It
// takes the file over: Close closes it, and so does an error.
func OpenFile(name string, file *os.File) (*File, error) {
	if file == nil {
		return nil, &Error{File: name, Err: errors.New("no open file: use Open")}
	}
	f, err := open(name, file)
	if err != nil {
		_ = file.Close() // it was only read
		return nil, err
	}
	return f, nil
}

func open(name string, file *os.File) (*File, error) {
	info, err := file.Stat()
	if err == nil {
		err = checkRegular(info)
	}
	if err != nil {
		return nil, &Error{File: name, Err: err}
	}
	// The header is read, not looked at in the mapping, where it could vanish.
	text, err := readHeader(file, info.Size())
	if err != nil {
		return nil, &Error{File: name, Err: err}
	}
	h, fault := parseHeader(text)
	if fault == nil {
		fault = h.checkLayout(info.Size() - prefixSize - int64(len(text)))
	}
	if fault != nil {
		fault.File = name
		return nil, fault
	}
	data, unmap, err := mapFile(file, info.Size())
	if err != nil {
		return nil, &Error{File: name, Err: err}
	}
	f := newFile(name, h, data)
	if mapped {
		f.file, f.written, f.unmap = file, info.ModTime(), unmap
		return f, nil
	}
	_ = file.Close() // it was only read
	return f, nil
}

func checkRegular(info os.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("it is a folder: give a file in it")
	case !info.Mode().IsRegular():
		return fmt.Errorf("it is no regular file (%v): copy what it holds to one", info.Mode().Type())
	}
	return nil
}

// readHeader is headerText for a file of so many bytes.
func readHeader(file *os.File, size int64) (string, error) {
	var prefix [prefixSize]byte
	if err := readAt(file, prefix[:min(size, prefixSize)], 0); err != nil {
		return "", err
	}
	n, err := headerSize(prefix[:min(size, prefixSize)], size)
	if err != nil {
		return "", err
	}
	text := make([]byte, n)
	if err := readAt(file, text, prefixSize); err != nil {
		return "", err
	}
	return unsafe.String(unsafe.SliceData(text), len(text)), nil // nothing writes to it any more
}

func readAt(file *os.File, b []byte, offset int64) error {
	_, err := file.ReadAt(b, offset)
	if err == io.EOF {
		return errors.New("it shrank while it was read: fetch it again")
	}
	return err
}

// headerSize is the length of the header of a file that starts with prefix and
// has size bytes, checked to lie within it.
func headerSize(prefix []byte, size int64) (int, error) {
	if len(prefix) < prefixSize {
		return 0, fmt.Errorf("%d bytes are too few for a safetensors file: fetch it again", size)
	}
	n := binary.LittleEndian.Uint64(prefix)
	if n > maxHeader {
		if other := otherFormat(prefix); other != "" {
			return 0, errors.New(other)
		}
		return 0, fmt.Errorf("header length %d is over the limit of %d: this is not a safetensors file", n, maxHeader)
	}
	if n > uint64(size-prefixSize) {
		return 0, fmt.Errorf("header of %d bytes in a file of %d: the file was cut short, fetch it again", n, size)
	}
	return int(n), nil
}

// Intact gives an error once the file has been truncated or written to, and from
// then on: data may have read as zeros up to the end of a page, or as a mixture
// of old and new. Data that was read before a nil Intact was the file's. It is
// always nil for a parsed buffer, and where Open reads files into memory. A file
// that is replaced, by a rename, stays intact.
func (f *File) Intact() error {
	if f == nil || f.file == nil {
		return nil
	}
	if seen := f.changed.Load(); seen != nil {
		return *seen
	}
	info, err := f.file.Stat()
	switch {
	case err != nil:
	case info.Size() != int64(len(f.data)):
		err = fmt.Errorf("it went from %d to %d bytes while in use: restore it, and open it anew", len(f.data), info.Size())
	case !info.ModTime().Equal(f.written):
		err = errors.New("it was written to while in use: open it anew")
	default:
		return nil
	}
	err = &Error{File: f.name, Err: err}
	f.changed.CompareAndSwap(nil, &err)
	return err
}

// Fault explains errors of reading the file's memory: where err is of a memory
// fault at an address in it, the result is an *Error around err that tells the
// tensor. Other errors come back as they are.
func (f *File) Fault(err error) error {
	var fault interface{ Addr() uintptr }
	if f == nil || len(f.data) == 0 || !errors.As(err, &fault) {
		return err
	}
	// From an address before the data this wraps to more than its length.
	offset := fault.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(f.data)))
	if offset >= uintptr(len(f.data)) {
		return err
	}
	e := &Error{File: f.name, Offset: int64(offset), Err: fmt.Errorf("the file shrank, or cannot be read any more: restore it, and open it anew (%w)", err)}
	for _, t := range f.tensors {
		begin := uintptr(unsafe.Pointer(unsafe.SliceData(t.Data))) - uintptr(unsafe.Pointer(unsafe.SliceData(f.data)))
		if len(t.Data) > 0 && begin <= offset && offset-begin < uintptr(len(t.Data)) {
			e.Tensor = t.Name
		}
	}
	return e
}

// otherFormat says what a file is that begins otherwise than one of these, where
// that is known: what is found most under the name of one.
func otherFormat(prefix []byte) string {
	for _, f := range []struct{ begins, what string }{
		{"version ", "it is a pointer of Git LFS, not the file that it stands for: fetch that with git lfs pull"},
		{"<", "it is a web page, not the file: fetch it again, by the address of the file itself"},
		{"{", "it is JSON without the length before it, as servers answer what they refuse: fetch it again"},
		{"GGUF", "it is a GGUF file, which is not read as safetensors"},
		{"PK\x03\x04", "it is a zip archive, as of PyTorch (.bin, .pt) or NumPy: convert it to safetensors"},
		{"\x80\x02", "it is a pickle, as of PyTorch (.bin, .pt), which is a program: convert it to safetensors"},
		{"\x89HDF\r\n", "it is an HDF5 file, as of Keras: convert it to safetensors"},
	} {
		if bytes.HasPrefix(prefix, []byte(f.begins)) {
			return f.what
		}
	}
	return ""
}
