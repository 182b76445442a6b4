package safetensors

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/jsonread"
)

// dtypeNames are the format's names for the element types, in the order of
// alignment that the reference implementation gives them: a file's tensors
// are written from the last to the first, so that each lies aligned.
var dtypeNames = []struct {
	name  string
	dtype sinter.DType
}{
	{"BOOL", sinter.Bool},
	{"U8", sinter.U8},
	{"I8", sinter.I8},
	{"I16", sinter.I16},
	{"U16", sinter.U16},
	{"F16", sinter.F16},
	{"BF16", sinter.BF16},
	{"I32", sinter.I32},
	{"U32", sinter.U32},
	{"F32", sinter.F32},
	{"F64", sinter.F64},
	{"I64", sinter.I64},
	{"U64", sinter.U64},
}

// maxRank is the most dimensions that numpy and PyTorch allow.
const maxRank = 64

// metadataKey is the one key of the header that is not a tensor.
const metadataKey = "__metadata__"

// header is what the JSON at the start of a file says.
type header struct {
	size     int // bytes of its text
	entries  []entry
	metadata map[string]string
}

// entry describes a tensor; begin and end are offsets into the data, which
// follows the header.
type entry struct {
	name       string
	dtype      sinter.DType
	shape      []int
	begin, end int64
}

func parseHeader(text string) (*header, *Error) {
	h := &header{size: len(text)}
	var tensor string // the one being read
	r := jsonread.New(text)
	read := func() error {
		if text == "" || text[0] != '{' {
			return r.Fail("the header must start with {: this is not a safetensors file")
		}
		if err := r.Object(func(key string) (err error) {
			if key == metadataKey {
				return h.readMetadata(r)
			}
			tensor = key
			e, err := readEntry(r, key)
			if err == nil {
				h.entries = append(h.entries, e)
				tensor = ""
			}
			return err
		}); err != nil {
			return err
		}
		return r.End()
	}
	err := read()
	if err == nil {
		return h, nil
	}
	fault := &Error{Tensor: tensor, Offset: prefixSize, Err: err}
	var syntax *jsonread.Error
	if errors.As(err, &syntax) {
		fault.Offset += int64(syntax.Offset)
		fault.Err = fmt.Errorf("header: %s", syntax.Reason)
	}
	return nil, fault
}

func (h *header) readMetadata(r *jsonread.Reader) error {
	if h.metadata != nil {
		return r.Fail("%s appears twice", metadataKey)
	}
	h.metadata = map[string]string{}
	return r.Object(func(key string) error {
		if _, twice := h.metadata[key]; twice {
			return r.Fail("the metadata key %.40q appears twice", key)
		}
		value, err := r.String()
		h.metadata[key] = value
		return err
	})
}

// readEntry reads one tensor's description. Fields it does not know are
// skipped, as the reference implementation does.
func readEntry(r *jsonread.Reader, name string) (entry, error) {
	e := entry{name: name}
	seen := map[string]bool{}
	err := r.Object(func(key string) error {
		if seen[key] {
			return r.Fail("%q appears twice", key)
		}
		switch key {
		case "dtype":
			seen[key] = true
			return e.readDType(r)
		case "shape":
			seen[key] = true
			return e.readShape(r)
		case "data_offsets":
			seen[key] = true
			return e.readOffsets(r)
		}
		return r.Skip()
	})
	if err == nil && len(seen) < 3 {
		err = r.Fail("it needs dtype, shape and data_offsets, and has %d of them", len(seen))
	}
	return e, err
}

func (e *entry) readDType(r *jsonread.Reader) error {
	name, err := r.String()
	if err != nil {
		return err
	}
	for _, d := range dtypeNames {
		if d.name == name {
			e.dtype = d.dtype
			return nil
		}
	}
	return r.Fail("element type %.40q is not supported: convert the tensor to F32, F16 or BF16", name)
}

func (e *entry) readShape(r *jsonread.Reader) error {
	return r.Array(func() error {
		n, err := r.Int()
		if err != nil {
			return err
		}
		if n < 0 || n > math.MaxInt {
			return r.Fail("dimension %d is out of range", n)
		}
		if len(e.shape) == maxRank {
			return r.Fail("more than %d dimensions", maxRank)
		}
		e.shape = append(e.shape, int(n))
		return nil
	})
}

func (e *entry) readOffsets(r *jsonread.Reader) error {
	count := 0
	err := r.Array(func() error {
		n, err := r.Int()
		if count++; count == 1 {
			e.begin = n
		}
		e.end = n
		return err
	})
	if err == nil && count != 2 {
		return r.Fail("data_offsets needs a begin and an end, and has %d numbers", count)
	}
	if err == nil && (e.begin < 0 || e.end < e.begin) {
		return r.Fail("data_offsets [%d, %d] are no range", e.begin, e.end)
	}
	return err
}

// checkLayout requires of the tensors that each has as many bytes as its shape
// and type need, and that together they cover the data once, without overlaps
// or gaps: what the format demands so that no file can carry hidden bytes or
// make its reader use more memory than it has. It sorts the entries by place,
// and rejects repeated names.
func (h *header) checkLayout(size int64) *Error {
	entries := h.entries
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	for i := 1; i < len(entries); i++ {
		if entries[i].name == entries[i-1].name {
			return &Error{Tensor: entries[i].name, Err: errors.New("the name appears twice in the header")}
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	var covered int64
	for _, e := range entries {
		fault := func(format string, args ...any) *Error {
			return &Error{Tensor: e.name, Offset: prefixSize + int64(h.size) + min(e.begin, size), Err: fmt.Errorf(format, args...)}
		}
		if e.end > size {
			return fault("data_offsets [%d, %d] end past the %d bytes of data: the file was cut short, fetch it again", e.begin, e.end, size)
		}
		if e.begin < covered {
			return fault("data_offsets [%d, %d] overlap the tensor that ends at %d: fetch the file again or write it anew", e.begin, e.end, covered)
		}
		if e.begin > covered {
			return fault("data_offsets [%d, %d] leave a gap after %d: fetch the file again or write it anew", e.begin, e.end, covered)
		}
		want, ok := byteSize(e.shape, e.dtype)
		if !ok {
			return fault("shape %v overflows: the file is damaged", e.shape)
		}
		if want != e.end-e.begin {
			return fault("shape %v of %v needs %d bytes, data_offsets [%d, %d] hold %d: fetch the file again or write it anew",
				e.shape, e.dtype, want, e.begin, e.end, e.end-e.begin)
		}
		covered = e.end
	}
	if covered != size {
		return &Error{Offset: prefixSize + int64(h.size) + covered, Err: fmt.Errorf("%d bytes after the last tensor belong to none: fetch the file again", size-covered)}
	}
	return nil
}

// byteSize is the bytes a tensor needs; false when that overflows.
func byteSize(shape []int, dtype sinter.DType) (int64, bool) {
	n := int64(dtype.Size())
	for _, dim := range shape {
		if dim < 0 || dim > 0 && n > math.MaxInt64/int64(dim) {
			return 0, false
		}
		n *= int64(dim)
	}
	return n, true
}
