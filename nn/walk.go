package nn

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/sinterml/sinter"
)

// slot is a place of a variable in a net.
type slot struct {
	name  string // the path of the net's fields by their tags
	at    **sinter.Variable
	state bool // by the tag state: kept with the weights, but not trained
}

var variableType = reflect.TypeFor[*sinter.Variable]()

// walker goes through a net, field by field. A field tagged `weight:"name"`, or
// `state:"name"`, is a variable or holds variables whose names begin with
// name and a dot; element i of a slice has i for a name, or what the tag has
// with %d. A field of an embedded type without a tag adds nothing to names.
type walker struct {
	// enter is called with each struct before its fields are looked at.
	enter func(path string, s reflect.Value) error
	visit func(s slot) error
	above map[uintptr]bool // pointers that lead to where it is
}

// walk goes through the net that a pointer leads to.
func (w *walker) walk(net any) error {
	v := reflect.ValueOf(net)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("nn: a net is given as a pointer to its struct, not as %T", net)
	}
	w.above = map[uintptr]bool{}
	return w.value("", false, v)
}

// value looks at v, which has a name: a variable, or what may hold some.
func (w *walker) value(name string, state bool, v reflect.Value) error {
	if v.Type() == variableType {
		return w.visit(slot{name, v.Addr().Interface().(**sinter.Variable), state})
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if v.Kind() == reflect.Pointer {
			if w.above[v.Pointer()] {
				return fmt.Errorf("nn: %s leads back to a net that it is in", display(name))
			}
			w.above[v.Pointer()] = true
			defer delete(w.above, v.Pointer())
		}
		return w.value(name, state, v.Elem())
	case reflect.Struct:
		return w.fields(name, v)
	}
	return nil
}

func (w *walker) fields(path string, s reflect.Value) error {
	if !s.CanAddr() {
		return fmt.Errorf("nn: %s, a %v, cannot be filled: keep a pointer to it", display(path), s.Type())
	}
	if w.enter != nil {
		if err := w.enter(path, s); err != nil {
			return err
		}
	}
	return eachField(path, s, w.value)
}

// eachField calls visit for the tagged fields of a struct, and for elements
// of those that are slices.
func eachField(path string, s reflect.Value, visit func(name string, state bool, v reflect.Value) error) error {
	for i := range s.NumField() {
		f := s.Type().Field(i)
		tag, state, ok, err := tagOf(f)
		if err != nil {
			return fmt.Errorf("nn: field %s of %v: %w", f.Name, s.Type(), err)
		}
		if !ok {
			continue
		}
		name := join(path, tag)
		if f.Anonymous && tag == "" {
			name = path
		}
		v := s.Field(i)
		if k := v.Kind(); k != reflect.Slice && k != reflect.Array {
			err = visit(name, state, v)
		}
		for j := 0; err == nil && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) && j < v.Len(); j++ {
			element := join(name, strconv.Itoa(j))
			if strings.Contains(tag, "%d") {
				element = join(path, strings.Replace(tag, "%d", strconv.Itoa(j), 1))
			}
			err = visit(element, state, v.Index(j))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tagOf is the name of a field, and whether it has a place in a net at all.
func tagOf(f reflect.StructField) (name string, state, ok bool, err error) {
	weight, isWeight := f.Tag.Lookup("weight")
	name, state = f.Tag.Lookup("state")
	switch {
	case isWeight && state:
		return "", false, false, errors.New("it has the tags weight and state: choose one")
	case isWeight:
		name = weight
	case !state && f.Anonymous && (f.IsExported() || f.Type.Kind() == reflect.Struct) && holdsVariables(f.Type, nil):
		return "", false, true, nil
	case !state && f.IsExported() && holdsVariables(f.Type, nil):
		return "", false, false, fmt.Errorf("it holds variables: give it the tag `weight:\"name\"`, or `weight:\"-\"` to leave it out")
	case !state:
		return "", false, false, nil
	}
	switch {
	case name == "-":
		return "", false, false, nil
	case !f.IsExported():
		return "", false, false, errors.New("it has a tag but is not exported, so that nn cannot fill it")
	case name == "" && !f.Anonymous:
		return "", false, false, errors.New("its tag has no name")
	}
	return name, state, true, nil
}

// holdsVariables tells whether a type is a variable, or has fields that are.
func holdsVariables(t reflect.Type, above []reflect.Type) bool {
	if t == variableType {
		return true
	}
	for _, a := range above {
		if a == t {
			return false
		}
	}
	above = append(above, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return holdsVariables(t.Elem(), above)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Tag.Get("weight") != "-" && f.IsExported() && holdsVariables(f.Type, above) {
				return true
			}
		}
	}
	return false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// display is a path for messages.
func display(path string) string {
	if path == "" {
		return "the net"
	}
	return path
}
