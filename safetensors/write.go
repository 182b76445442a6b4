package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/sinterml/sinter"
)

// Write writes a file: the bytes that the reference implementation would
// write, whatever order the tensors come in. The header is padded with spaces
// to 8 bytes, and tensors stand by falling alignment and then by name, so that
// all are aligned to their elements. Nothing is written when it returns an
// *Error; any other error is the writer's.
func Write(w io.Writer, tensors []Tensor, metadata map[string]string) error {
	if w == nil {
		return &Error{Err: errors.New("nowhere to write: the writer is nil")}
	}
	tensors = slices.Clone(tensors)
	slices.SortFunc(tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(dtypeRank(b.DType), dtypeRank(a.DType)), cmp.Compare(a.Name, b.Name))
	})
	if err := checkTensors(tensors); err != nil {
		return err
	}
	head, err := formatHeader(tensors, metadata)
	if err != nil {
		return &Error{Err: err}
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := w.Write(t.Data); err != nil {
			return err
		}
	}
	return nil
}

// dtypeRank is the place of a type in the order of alignment, -1 for none.
func dtypeRank(dtype sinter.DType) int {
	for i, d := range dtypeNames {
		if d.dtype == dtype {
			return i
		}
	}
	return -1
}

// checkTensors refuses what Parse would refuse.
func checkTensors(tensors []Tensor) error {
	names := make(map[string]bool, len(tensors))
	for _, t := range tensors {
		size, ok := byteSize(t.Shape, t.DType)
		var err error
		switch {
		case dtypeRank(t.DType) < 0:
			err = fmt.Errorf("the format has no element type %v", t.DType)
		case t.Name == metadataKey:
			err = errors.New("the name is reserved: choose another")
		case !utf8.ValidString(t.Name):
			err = errors.New("the name is not UTF-8")
		case names[t.Name]:
			err = errors.New("two tensors have this name")
		case len(t.Shape) > maxRank:
			err = fmt.Errorf("%d dimensions, at most %d are possible", len(t.Shape), maxRank)
		case !ok:
			err = fmt.Errorf("shape %v is negative or overflows", t.Shape)
		case size != int64(len(t.Data)):
			err = fmt.Errorf("shape %v of %v needs %d bytes of data, not %d", t.Shape, t.DType, size, len(t.Data))
		}
		if err != nil {
			return &Error{Tensor: t.Name, Err: err}
		}
		names[t.Name] = true
	}
	return nil
}

// formatHeader is the length and the JSON that precede the data. It is written
// by hand because the tensors' order is the file's, not that of a Go map.
func formatHeader(tensors []Tensor, metadata map[string]string) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, prefixSize))
	b.WriteByte('{')
	if metadata != nil {
		for key, value := range metadata {
			if !utf8.ValidString(key) || !utf8.ValidString(value) {
				return nil, fmt.Errorf("the metadata of key %q is not UTF-8", key)
			}
		}
		if err := writeField(&b, metadataKey, metadata); err != nil {
			return nil, err
		}
	}
	offset := 0
	for _, t := range tensors {
		info := struct {
			DType   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}{dtypeNames[dtypeRank(t.DType)].name, append([]int{}, t.Shape...), [2]int{offset, offset + len(t.Data)}}
		if err := writeField(&b, t.Name, info); err != nil {
			return nil, err
		}
		offset += len(t.Data)
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	n := b.Len() - prefixSize
	if n > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes is over the format's limit of %d: write several files", n, maxHeader)
	}
	binary.LittleEndian.PutUint64(b.Bytes(), uint64(n))
	return b.Bytes(), nil
}

// writeField adds "key":value to an object.
func writeField(b *bytes.Buffer, key string, value any) error {
	if b.Bytes()[b.Len()-1] != '{' {
		b.WriteByte(',')
	}
	if err := writeJSON(b, key); err != nil {
		return err
	}
	b.WriteByte(':')
	return writeJSON(b, value)
}

func writeJSON(b *bytes.Buffer, value any) error {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline that Encode ends with
	return nil
}
