package textfiles

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// sniffed is how much of a file is searched for a zero byte, which no text has.
const sniffed = 8 << 10

// maxNamed bounds the text of files that are read whatever their size.
const maxNamed = 1 << 30

// Open opens a file; stdin stands for Stdin. A pipe that has taken the place of a
// regular file since that was listed is an error: it would be waited for.
func (f File) Open(stdin io.Reader) (io.ReadCloser, error) {
	switch {
	case f.Path == Stdin:
		return io.NopCloser(stdin), nil
	case f.Info != nil && f.Info.Mode().IsRegular():
		return openRegular(f.Path)
	}
	return os.Open(f.Path)
}

// Read reads a text of at most so many bytes; named files have no such bound.
// UTF-16 with a byte order mark is decoded, the mark of UTF-8 left out, and
// what is not valid becomes U+FFFD. What is no text, or too much of it, is an
// error that wraps one of this package's.
func (f File) Read(stdin io.Reader, most int64) (string, error) {
	if f.Named {
		most = maxNamed
	}
	r, err := f.Open(stdin)
	if err != nil {
		return "", err
	}
	defer r.Close()
	head := make([]byte, sniffed)
	n, err := io.ReadFull(r, head)
	if head = head[:n]; binary(head) { // a device may have no end
		return "", fmt.Errorf("%s: %w", f.Path, ErrBinary)
	}
	data := head
	if err == nil {
		data, err = io.ReadAll(io.MultiReader(bytes.NewReader(head), io.LimitReader(r, most+1-sniffed)))
	} else if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	switch {
	case err != nil:
		return "", err
	case int64(len(data)) > most:
		return "", fmt.Errorf("%s: %w", f.Path, ErrTooLarge)
	}
	text, err := decode(data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.Path, err)
	}
	return string(text), nil
}

// Check reports what Read would, but for a file that has grown, from the
// beginning of the file alone. What can be read only once, as Stdin, passes.
func (f File) Check() error {
	if f.Path == Stdin {
		return nil
	}
	if info, err := os.Stat(f.Path); err != nil || !info.Mode().IsRegular() {
		return err
	}
	r, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	head := make([]byte, sniffed)
	n, err := io.ReadFull(r, head)
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return err
	case binary(head[:n]):
		return fmt.Errorf("%s: %w", f.Path, ErrBinary)
	}
	return nil
}

// binary reports whether the beginning of a file is no text.
func binary(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		if text, err := decode(head); err == nil { // UTF-16 is full of zeros
			head = text
		}
	}
	return bytes.IndexByte(head, 0) >= 0
}

// decode reads UTF-8, or UTF-16 that begins with a byte order mark.
func decode(data []byte) ([]byte, error) {
	text, _, err := transform.Bytes(unicode.BOMOverride(unicode.UTF8.NewDecoder()), data)
	return text, err
}
