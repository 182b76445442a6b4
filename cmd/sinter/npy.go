package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// npyHeader is the start of a NumPy file, version 1.0, of float32 rows. Its
// length does not depend on their number, so that it can be written last. See
// numpy.lib.format.
func npyHeader(rows, columns int) []byte {
	const size = 128 // a multiple of 64, as the format asks for
	h := []byte("\x93NUMPY\x01\x00")
	h = binary.LittleEndian.AppendUint16(h, uint16(size-len(h)-2))
	dict := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns)
	h = append(h, dict...)
	return append(h, strings.Repeat(" ", size-1-len(h))+"\n"...)
}

// npyWriter writes rows of float32 of a number that is known at the end alone:
// into a file that can be written in any order, or by way of one.
type npyWriter struct {
	out     *outputFile
	file    *os.File
	spooled bool // file is not the output but goes there at the end
	buffer  *bufio.Writer
	rows    int
	columns int
	bytes   []byte // of a row
}

func newNPY(out *outputFile, columns int) (*npyWriter, error) {
	w := &npyWriter{out: out, file: out.seekable(), columns: columns}
	if w.file == nil {
		f, err := os.CreateTemp("", "sinter-*.npy")
		if err != nil {
			return nil, fmt.Errorf("a place for the rows until their number is known: %w", err)
		}
		w.file, w.spooled = f, true
	}
	w.buffer = bufio.NewWriterSize(w.file, 1<<20)
	_, err := w.buffer.Write(npyHeader(0, columns))
	return w, err
}

func (w *npyWriter) add(row []float32) error {
	if len(row) != w.columns {
		return fmt.Errorf("row %d has %d numbers, those before it %d", w.rows, len(row), w.columns)
	}
	w.rows++
	w.bytes = w.bytes[:0]
	for _, v := range row {
		w.bytes = binary.LittleEndian.AppendUint32(w.bytes, math.Float32bits(v))
	}
	_, err := w.buffer.Write(w.bytes)
	return err
}

// close completes the file, unless err says that it is not worth it.
func (w *npyWriter) close(err error) error {
	if err == nil {
		err = w.buffer.Flush()
	}
	if err == nil {
		_, err = w.file.WriteAt(npyHeader(w.rows, w.columns), 0)
	}
	if !w.spooled {
		return err
	}
	if err == nil {
		if _, err = w.file.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(w.out, w.file)
		}
	}
	return errors.Join(err, w.file.Close(), os.Remove(w.file.Name()))
}
