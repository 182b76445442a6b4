package model

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/sinterml/sinter"
)

// binder fills structs of tensors from weight files. A field of type
// sinter.Tensor has two tags: `weight`, the name below its parent's, and
// `shape`, its sizes by the names in sizes; `old` is a last part of the name
// that old files have instead. A struct, or a slice of structs of the length
// that `count` names, has the tag `weight` alone; elements of a slice are
// called 0, 1, ... A field with the tag `when` is left out where the size of
// that name is 0; the size "index" is the number of a slice's element.
type binder struct {
	files *weightFiles
	// names are what the file calls those weights that the structs name
	// otherwise; one that begins with a dot is below prefix wherever it stands.
	names  map[string]string
	sizes  map[string]int
	prefix string // of the encoder's weights: "" or "bert." or the like
}

// bind fills v, a pointer to a struct, with the tensors below prefix.
func (b *binder) bind(prefix string, v any) error {
	return b.fields(prefix, reflect.ValueOf(v).Elem())
}

var tensorType = reflect.TypeFor[sinter.Tensor]()

func (b *binder) fields(prefix string, s reflect.Value) error {
	for i := range s.NumField() {
		f := s.Type().Field(i)
		if size, ok := f.Tag.Lookup("when"); ok && b.sizes[size] == 0 {
			continue
		}
		name := b.name(prefix, f.Tag.Get("weight"))
		var err error
		switch {
		case f.Type == tensorType:
			var t sinter.Tensor
			if old := f.Tag.Get("old"); old != "" && !b.files.has(name) && b.files.has(prefix+old) {
				name = prefix + old
			}
			t, err = b.tensor(name, strings.Fields(f.Tag.Get("shape")))
			s.Field(i).Set(reflect.ValueOf(t))
		case f.Type.Kind() == reflect.Struct:
			err = b.fields(name+".", s.Field(i))
		case f.Type.Kind() == reflect.Slice:
			n := b.sizes[f.Tag.Get("count")]
			s.Field(i).Set(reflect.MakeSlice(f.Type, n, n))
			for j := 0; j < n && err == nil; j++ {
				b.sizes["index"] = j
				err = b.fields(name+"."+strconv.Itoa(j)+".", s.Field(i).Index(j))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// name is what the file calls a weight.
func (b *binder) name(prefix, tag string) string {
	name, ok := b.names[tag]
	if !ok {
		return prefix + tag
	}
	if below, ok := strings.CutPrefix(name, "."); ok {
		return b.prefix + below
	}
	return prefix + name
}

// findPrefix notes what stands before the names of the encoder's weights, of
// which known is one: files of whole models call them "bert.embeddings..." or
// the like.
func (b *binder) findPrefix(known string) error {
	found := 0
	for _, n := range b.files.names {
		if p, ok := strings.CutSuffix(n, known); ok && (p == "" || strings.HasSuffix(p, ".")) {
			b.prefix = p
			found++
		}
	}
	switch found {
	case 0:
		return fmt.Errorf("model: %s holds no tensor %.80q: it is not of the architecture that config.json names", b.files.path, known)
	case 1:
		return nil
	}
	return fmt.Errorf("model: %s holds %d tensors called %.80q under different prefixes", b.files.path, found, known)
}

// tensor reads one weight as f32. One of 8-bit integers has a factor for each
// index of its first axis beside it, in NAME.scale.
func (b *binder) tensor(name string, shape []string) (sinter.Tensor, error) {
	want := make([]int, len(shape))
	for i, s := range shape {
		want[i] = b.sizes[s]
	}
	w, err := b.leaf(name, want)
	if err != nil {
		return sinter.Tensor{}, err
	}
	switch w.DType() {
	case sinter.F32:
		return w, nil
	case sinter.F16, sinter.BF16:
		return w.Cast(sinter.F32), nil
	case sinter.I8:
		per := make([]int, len(want))
		for i := range per {
			per[i] = 1
		}
		per[0] = want[0]
		scale, err := b.leaf(name+".scale", per)
		if err != nil {
			return sinter.Tensor{}, err
		}
		return w.Cast(sinter.F32).Mul(scale), nil
	}
	return sinter.Tensor{}, b.errorf(name, "has dtype %v: want f32, f16, bf16 or i8", w.DType())
}

func (b *binder) leaf(name string, want []int) (sinter.Tensor, error) {
	t, ok := b.files.tensor(name)
	if !ok {
		return sinter.Tensor{}, b.errorf(name, "is missing: the file holds %d tensors; is it complete, and of the architecture that config.json names?", len(b.files.names))
	}
	same := len(t.Shape) == len(want)
	for i := range want {
		same = same && t.Shape[i] == want[i]
	}
	if !same {
		return sinter.Tensor{}, b.errorf(name, "has shape %v, config.json says %v", t.Shape, want)
	}
	w := sinter.Weight(name, t.DType, t.Data, want...)
	return w, w.Err()
}

func (b *binder) errorf(name, format string, args ...any) error {
	return fmt.Errorf("model: %s: tensor %.80q %s", b.files.path, name, fmt.Sprintf(format, args...))
}
