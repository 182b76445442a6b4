package cl

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// query asks one of the clGet...Info functions, whose handle get has, for a
// value of unknown size.
func query(get func(param uint32, size int, value *byte, needed *int) Code, param uint32) ([]byte, Code) {
	needed := new(int)
	if c := get(param, 0, nil, needed); c != 0 || *needed == 0 {
		return nil, c
	}
	if *needed < 0 || *needed > maxInfo {
		return nil, InvalidValue
	}
	value := make([]byte, *needed)
	if c := get(param, len(value), &value[0], nil); c != 0 {
		return nil, c
	}
	return value, 0
}

// maxInfo bounds what a driver is believed to have to say: build logs are the
// longest.
const maxInfo = 1 << 28

// text is a value that is a text of C.
func text(value []byte) string {
	if i := bytes.IndexByte(value, 0); i >= 0 {
		value = value[:i]
	}
	return string(bytes.TrimSpace(value))
}

// number is an unsigned value of any width.
func number(value []byte) uint64 {
	var full [8]byte
	copy(full[:], value)
	return binary.NativeEndian.Uint64(full[:])
}

// words are the values of an array of size_t.
func words(value []byte) []int {
	out := make([]int, len(value)/8)
	for i := range out {
		out[i] = int(binary.NativeEndian.Uint64(value[8*i:]))
	}
	return out
}

// uuid is a value of 16 bytes in the usual notation.
func uuid(value []byte) string {
	if len(value) != 16 || bytes.Equal(value, make([]byte, 16)) {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", value[:4], value[4:6], value[6:8], value[8:10], value[10:])
}
