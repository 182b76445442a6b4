//go:build (linux || darwin) && (amd64 || arm64)

package mtl

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sinterml/sinter/internal/dynlib"
	"github.com/sinterml/sinter/internal/dynlib/libtest"
)

// TestCalls calls methods of a runtime that stands in for Apple's, so that the
// way arguments take is that of the system's C compiler.
func TestCalls(t *testing.T) {
	source, err := os.ReadFile("testdata/objc.c")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(libtest.Build(t, source, "libobjc.so", "TEST"), "libobjc.so")
	lib, err := dynlib.Open(dynlib.Spec{API: "Objective-C", Linux: []string{file}, Darwin: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	o, err := newObjc(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer o.pool()()
	const object = ID(8)
	l := &Launch{groups: [3]uintptr{11, 12, 13}, items: [3]uintptr{14, 15, 16}}
	if o.call(object, "dispatchThreadgroups:threadsPerThreadgroup:", sizes(&l.groups, &l.items)...) != 1 {
		t.Error("the method was not found")
	}
	at, err := lib.Symbol("seen_at")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if got := dynlib.Call(at, uintptr(i)); got != uintptr(11+i) {
			t.Errorf("word %d of the sizes is %d", i, got)
		}
	}
	if o.is(object, "hasUnifiedMemory") || !o.is(object, "isLowPower") {
		t.Error("more of a BOOL counts than its byte")
	}
	if s := o.goText(object); s != "text" {
		t.Errorf("a text is %q", s)
	}
	if o.call(0, "isLowPower") != 0 || o.goText(0) != "" {
		t.Error("no object has methods")
	}
	for _, m := range methods {
		if o.names[m] == 0 {
			t.Errorf("%s has no name", m)
		}
	}
}
