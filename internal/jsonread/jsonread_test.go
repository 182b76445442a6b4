package jsonread

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// value reads any value into what encoding/json would give, integers as int64.
func value(r *Reader) (any, error) {
	switch r.Next() {
	case '{':
		m := map[string]any{}
		err := r.Object(func(key string) (err error) {
			m[key], err = value(r)
			return err
		})
		return m, err
	case '[':
		a := []any{}
		err := r.Array(func() error {
			v, err := value(r)
			a = append(a, v)
			return err
		})
		return a, err
	case '"':
		return r.String()
	}
	raw, err := r.Raw()
	if err != nil {
		return nil, err
	}
	var v any
	return v, json.Unmarshal([]byte(raw), &v)
}

func read(text string) (any, error) {
	r := New(text)
	v, err := value(r)
	if err == nil {
		err = r.End()
	}
	return v, err
}

var texts = []string{
	`{}`, `[]`, ` { "a" : [ 1 , -2.5e3 , true , false , null ] , "b" : { "c" : "d" } } `,
	`"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é😀"`, `-0`, `0.5`, `1E+9`, "\t\n[\r[[]]]", `"` + "\u2028" + `"`,
	``, ` `, `{`, `[`, `"`, `"\`, `"\u12`, `"\ud83d"`, `"\ud83d\u0041"`, `"\x"`, `"\u+123"`, "\"\x01\"", "\"\xff\"", "\"\\n\xff\"", "\"\\n\x01\"",
	`{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`, `{,}`, `{1:2}`, `[1,]`, `[,1]`, `[1 2]`, `[1,,2]`, `[1}`, `{]`,
	`01`, `-`, `+1`, `1.`, `.5`, `1e`, `1e+`, `--1`, `tru`, `nul`, `truefalse`, `1 2`, `{} {}`, `a`, "\x00",
	strings.Repeat("[", 60) + strings.Repeat("]", 60),
}

// TestAgainstStandardLibrary holds the reader to the verdict of encoding/json,
// and to its values; it is stricter only about broken strings.
func TestAgainstStandardLibrary(t *testing.T) {
	for _, text := range texts {
		got, err := read(text)
		valid := json.Valid([]byte(text))
		if strings.Contains(text, "\xff") || strings.Contains(text, `\ud83d"`) || strings.Contains(text, `\ud83d\u0041`) {
			valid = false
		}
		if valid != (err == nil) {
			t.Errorf("%q: error %v, but valid is %t", text, err, valid)
			continue
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(text) {
				t.Errorf("%q: error %v has no offset within the text", text, err)
			}
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		if string(g) != string(w) {
			t.Errorf("%q: read %s, want %s", text, g, w)
		}
	}
}

func TestDepthIsBounded(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		err := New(strings.Repeat(open, 1_000_000)).Skip()
		if err == nil || !strings.Contains(err.Error(), "deep") {
			t.Errorf("a million of %q: error %v, want one about the depth", open, err)
		}
	}
}

func TestInt(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "-1": -1, "9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63} {
		if got, err := New(text).Int(); got != want || err != nil {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"9223372036854775808", "1.0", "1e3", `"1"`, "null", "", "00", "-"} {
		if got, err := New(text).Int(); err == nil {
			t.Errorf("%s: %d without an error", text, got)
		}
	}
}

func TestRepeatedKeysAreSeen(t *testing.T) {
	var keys []string
	r := New(`{"a":1,"\u0061":2}`)
	if err := r.Object(func(key string) error { keys = append(keys, key); return r.Skip() }); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 2 || keys[0] != "a" || keys[1] != "a" {
		t.Errorf("keys %q, want a twice", keys)
	}
}

func FuzzReader(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := read(text)
		if err == nil && !json.Valid([]byte(text)) {
			t.Errorf("%q was read, but is not JSON", text)
		}
	})
}

// What stands most where JSON should be is named.
func TestNoJSON(t *testing.T) {
	for text, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 17\n": "git lfs pull",
		"<!doctype html><title>404</title>":                                      "web page",
		"version 2":                                                              "'v'",
		"":                                                                       "the end of the text",
	} {
		r := New(text)
		if err := r.Skip(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
		r = New(text)
		if err := r.Object(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
