package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/reftest"
)

// file is a file with the header given as it is and so many bytes of data.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	return append(b, make([]byte, data)...)
}

// one is a file of one tensor whose description is given.
func one(info string, data int) []byte { return file(`{"x":{`+info+`}}`, data) }

const f32x2 = `"dtype":"F32","shape":[2],"data_offsets":[0,8]`

// hostile lists files that must be refused, with words the error must have.
var hostile = []struct {
	name string
	data []byte
	want string
}{
	{"empty", nil, "too few"},
	{"seven bytes", make([]byte, 7), "too few"},
	{"header past the end", append(binary.LittleEndian.AppendUint64(nil, 3), "{}"...), "cut short"},
	{"header over the limit", binary.LittleEndian.AppendUint64(nil, maxHeader+1), "over the limit"},
	{"header of 2^64-1", bytes.Repeat([]byte{0xff}, 20), "over the limit"},
	{"git lfs pointer", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 90868376\n"), "git lfs pull"},
	{"web page", []byte("<!doctype html><title>404</title>"), "web page"},
	{"answer of a server", []byte(`{"error":"Repository not found"}`), "servers answer"},
	{"gguf", []byte("GGUF\x03\x00\x00\x00\x10\x00"), "GGUF"},
	{"zip", []byte("PK\x03\x04\x00\x00\x08\x08\x00\x00"), "PyTorch"},
	{"pickle", []byte("\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."), "pickle"},
	{"hdf5", []byte("\x89HDF\r\n\x1a\n\x00\x00"), "HDF5"},
	{"cut header whose length begins as a web page", append(binary.LittleEndian.AppendUint64(nil, '<'), "{}"...), "cut short"},
	{"header of zero bytes", file("", 0), "must start with {"},
	{"header after a space", file(" {}", 0), "must start with {"},
	{"array", file("[]", 0), "must start with {"},
	{"cut JSON", file(`{"x":`, 0), "header"},
	{"text after the object", file(`{} {}`, 0), "after the end"},
	{"deep nesting", file(`{"x":{"more":`+strings.Repeat("[", 100000)+`}}`, 0), "deep"},
	{"name twice", file(`{"x":{`+f32x2+`},"x":{`+f32x2+`}}`, 8), "twice"},
	{"name twice, one escaped", file(`{"x":{`+f32x2+`},"\u0078":{`+f32x2+`}}`, 8), "twice"},
	{"field twice", one(f32x2+`,"dtype":"F32"`, 8), "twice"},
	{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, 0), "twice"},
	{"metadata key twice", file(`{"__metadata__":{"a":"b","a":"c"}}`, 0), "twice"},
	{"metadata number", file(`{"__metadata__":{"a":1}}`, 0), "string is wanted"},
	{"metadata null", file(`{"__metadata__":null}`, 0), "object is wanted"},
	{"tensor that is no object", file(`{"x":3}`, 0), "object is wanted"},
	{"no dtype", one(`"shape":[2],"data_offsets":[0,8]`, 8), "it needs dtype"},
	{"no shape", one(`"dtype":"F32","data_offsets":[0,8]`, 8), "it needs dtype"},
	{"no offsets", one(`"dtype":"F32","shape":[2]`, 8), "it needs dtype"},
	{"unknown dtype", one(`"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]`, 8), `"F8_E4M3" is not supported`},
	{"unknown dtype of a tensor", one(`"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]`, 8), `tensor "x"`},
	{"lower-case dtype", one(`"dtype":"f32","shape":[2],"data_offsets":[0,8]`, 8), "not supported"},
	{"negative dimension", one(`"dtype":"F32","shape":[-2],"data_offsets":[0,8]`, 8), "out of range"},
	{"two negative dimensions", one(`"dtype":"F32","shape":[-2,-1],"data_offsets":[0,8]`, 8), "out of range"},
	{"fractional dimension", one(`"dtype":"F32","shape":[2.0],"data_offsets":[0,8]`, 8), "not an integer"},
	{"dimension over 64 bits", one(`"dtype":"F32","shape":[18446744073709551618],"data_offsets":[0,8]`, 8), "not an integer"},
	{"product wraps to 8", one(`"dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8]`, 8), "overflows"},
	{"product wraps to 0", one(`"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]`, 0), "overflows"},
	{"too many dimensions", one(`"dtype":"U8","shape":[`+strings.Repeat("1,", 64)+`1],"data_offsets":[0,1]`, 1), "more than 64"},
	{"one offset", one(`"dtype":"F32","shape":[2],"data_offsets":[8]`, 8), "has 1 numbers"},
	{"three offsets", one(`"dtype":"F32","shape":[2],"data_offsets":[0,8,8]`, 8), "has 3 numbers"},
	{"negative offset", one(`"dtype":"F32","shape":[2],"data_offsets":[-8,0]`, 8), "no range"},
	{"end before begin", one(`"dtype":"F32","shape":[2],"data_offsets":[8,0]`, 8), "no range"},
	{"end past the data", one(`"dtype":"F32","shape":[2],"data_offsets":[0,8]`, 7), "cut short"},
	{"end far past the data", one(`"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775807]`, 8), "cut short"},
	{"begin at the largest integer", one(`"dtype":"U8","shape":[0],"data_offsets":[9223372036854775807,9223372036854775807]`, 8), "cut short"},
	{"fewer bytes than the shape", one(`"dtype":"F32","shape":[3],"data_offsets":[0,8]`, 8), "needs 12 bytes"},
	{"more bytes than the shape", one(`"dtype":"F32","shape":[1],"data_offsets":[0,8]`, 8), "needs 4 bytes"},
	{"hole at the start", one(`"dtype":"F32","shape":[2],"data_offsets":[8,16]`, 16), "gap"},
	{"hole between", file(`{"x":{`+f32x2+`},"y":{"dtype":"U8","shape":[1],"data_offsets":[9,10]}}`, 10), "gap"},
	{"hole at the end", one(f32x2, 9), "belong to none"},
	{"data without tensors", file(`{}`, 1), "belong to none"},
	{"overlap", file(`{"x":{`+f32x2+`},"y":{"dtype":"U8","shape":[1],"data_offsets":[7,8]}}`, 8), "overlap"},
	{"same bytes twice", file(`{"x":{`+f32x2+`},"y":{`+f32x2+`}}`, 8), "overlap"},
	{"name that is not UTF-8", file("{\"\xff\":{"+f32x2+"}}", 8), "UTF-8"},
}

func TestHostileFilesAreRefused(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			f, err := Parse("some.safetensors", c.data)
			if err == nil {
				t.Fatalf("no error; it holds %q", f.Names())
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%T is no *Error", err)
			}
			if e.File != "some.safetensors" || e.Offset < 0 || e.Offset > int64(len(c.data)) {
				t.Errorf("file %q and offset %d in a file of %d bytes", e.File, e.Offset, len(c.data))
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

func TestErrorNamesFileTensorAndPlace(t *testing.T) {
	_, err := Parse("m.safetensors", one(`"dtype":"F32","shape":[3],"data_offsets":[0,8]`, 8))
	var e *Error
	if !errors.As(err, &e) || e.Tensor != "x" || e.Offset != 62 {
		t.Errorf("error %+v, want tensor x at byte 62", e)
	}
	const want = `safetensors: m.safetensors: tensor "x": at byte 62: shape [3] of f32 needs 12 bytes, data_offsets [0, 8] hold 8: fetch the file again or write it anew`
	if err.Error() != want {
		t.Errorf("error\n%s\nwant\n%s", err, want)
	}
}

func TestLayoutsThatAreAllowed(t *testing.T) {
	for name, data := range map[string][]byte{
		"no tensors":               file(`{}`, 0),
		"padded with spaces":       file(`{}      `, 0),
		"empty tensors anywhere":   file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"x":{`+f32x2+`},"b":{"dtype":"F32","shape":[2,0],"data_offsets":[8,8]}}`, 8),
		"header not in data order": file(`{"y":{"dtype":"U8","shape":[1],"data_offsets":[8,9]},"x":{`+f32x2+`}}`, 9),
		"fields of a later format": one(f32x2+`,"more":{"a":[1,null]}`, 8),
		"scalar":                   one(`"dtype":"F64","shape":[],"data_offsets":[0,8]`, 8),
		"metadata alone":           file(`{"__metadata__":{"a":"b"}}`, 0),
	} {
		if _, err := Parse("f", data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWriteAsTheReferenceDoes rewrites a file of the reference implementation,
// which holds every element type, and wants the same bytes.
func TestWriteAsTheReferenceDoes(t *testing.T) {
	want, err := os.ReadFile("testdata/numpy.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse("numpy.safetensors", want)
	if err != nil {
		t.Fatal(err)
	}
	var tensors []Tensor
	for _, name := range f.Names() {
		tensor, ok := f.Tensor(name)
		if !ok {
			t.Fatalf("no tensor %q", name)
		}
		tensors = append(tensors, tensor)
	}
	var got bytes.Buffer
	if err := Write(&got, tensors, f.Metadata()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("wrote\n%q\nwant\n%q", got.Bytes(), want)
	}
	if z, _ := f.Tensor("z"); z.DType != sinter.F32 || !slices.Equal(z.Shape, []int{3}) || !bytes.Equal(z.Data, []byte{0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}) {
		t.Errorf("z = %+v, want [0 1 2]", z)
	}
	if _, ok := f.Tensor("zz"); ok {
		t.Error("a tensor that is not there was found")
	}
}

func TestWriteRefuses(t *testing.T) {
	good := Tensor{"x", sinter.U8, []int{1}, []byte{1}}
	for name, tensors := range map[string][]Tensor{
		"no type":            {{"x", 0, nil, nil}},
		"too little data":    {{"x", sinter.F32, []int{2}, make([]byte, 7)}},
		"too much data":      {{"x", sinter.F32, nil, make([]byte, 5)}},
		"negative dimension": {{"x", sinter.F32, []int{-1}, nil}},
		"two of one name":    {good, good},
		"reserved name":      {{"__metadata__", sinter.U8, []int{0}, nil}},
		"name not UTF-8":     {{"\xff", sinter.U8, []int{0}, nil}},
	} {
		var b bytes.Buffer
		var e *Error
		if err := Write(&b, tensors, nil); !errors.As(err, &e) {
			t.Errorf("%s: error %v, want an *Error", name, err)
		}
		if b.Len() != 0 {
			t.Errorf("%s: %d bytes were written", name, b.Len())
		}
	}
	var e *Error
	if err := Write(&bytes.Buffer{}, nil, map[string]string{"a": "\xff"}); !errors.As(err, &e) {
		t.Errorf("metadata that is not UTF-8: error %v, want an *Error", err)
	}
}

func TestOpen(t *testing.T) {
	f, err := Open("testdata/numpy.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := f.Tensor("a"); !ok || a.DType != sinter.I64 || len(a.Data) != 32 || a.Data[8] != 2 {
		t.Errorf("a = %+v, %t", a, ok)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := Open(empty); !errors.As(err, &e) || e.File != empty {
		t.Errorf("empty file: %v", err)
	}
}

// TestReferenceFiles opens whatever files the reference data has.
func TestReferenceFiles(t *testing.T) {
	for _, name := range []string{"ops", "bert", "minilm"} {
		t.Run(name, func(t *testing.T) {
			files := 0
			err := filepath.WalkDir(reftest.Dir(t, name), func(path string, _ fs.DirEntry, err error) error {
				if err != nil || filepath.Ext(path) != ".safetensors" {
					return err
				}
				f, err := Open(path)
				if err != nil {
					return err
				}
				if len(f.Names()) == 0 {
					t.Errorf("%s holds no tensors", path)
				}
				files++
				return f.Close()
			})
			if err != nil || files == 0 {
				t.Errorf("%d files, error %v", files, err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range hostile {
		if len(c.data) < 4096 {
			f.Add(c.data)
		}
	}
	f.Add(one(f32x2, 8))
	if golden, err := os.ReadFile("testdata/numpy.safetensors"); err == nil {
		f.Add(golden)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("fuzz", data)
		if err != nil {
			return
		}
		var tensors []Tensor
		for _, name := range file.Names() {
			tensor, ok := file.Tensor(name)
			if !ok {
				t.Fatalf("%q is listed and not found", name)
			}
			tensors = append(tensors, tensor)
		}
		var b bytes.Buffer
		if err := Write(&b, tensors, file.Metadata()); err != nil {
			t.Fatalf("a file that was read cannot be written: %v", err)
		}
		again, err := Parse("again", b.Bytes())
		if err != nil {
			t.Fatalf("a file that was written cannot be read: %v", err)
		}
		for _, want := range tensors {
			got, _ := again.Tensor(want.Name)
			if got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) || !bytes.Equal(got.Data, want.Data) {
				t.Fatalf("read %+v, wrote %+v", got, want)
			}
		}
	})
}

func Example() {
	var file bytes.Buffer
	err := Write(&file, []Tensor{
		{Name: "bias", DType: sinter.F32, Shape: []int{2}, Data: []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}},
	}, map[string]string{"made-by": "an example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := Parse("model.safetensors", file.Bytes()) // Open, for a file on disk
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	for _, name := range f.Names() {
		tensor, _ := f.Tensor(name)
		fmt.Println(name, tensor.DType, tensor.Shape, len(tensor.Data), "bytes")
	}
	// Output: bias f32 [2] 8 bytes
}
