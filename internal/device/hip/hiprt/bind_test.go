//go:build (linux || darwin) && (amd64 || arm64)

package hiprt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device/hip/hiprt"
	"github.com/sinterml/sinter/internal/device/hip/hiprt/hiptest"
)

func library(t *testing.T, way string) (*hiprt.API, error) {
	return hiprt.BindFile(filepath.Join(hiptest.Library(t, way), "libamdhip64.so.7"))
}

// TestBind calls every function of a library in C, which checks what it is given,
// with the properties as they lie in either version.
func TestBind(t *testing.T) {
	for _, way := range []string{"WORKS", "BEFORE_6"} {
		t.Run(way, func(t *testing.T) {
			api, err := library(t, way)
			if err != nil {
				t.Fatal(err)
			}
			all, err := api.Devices()
			if err != nil || len(all) != 1 {
				t.Fatalf("%d devices: %v", len(all), err)
			}
			d := all[0]
			want := hiprt.Properties{Name: "Library GPU 0", Arch: "gfx90a:sramecc+:xnack-", Shared: 64 << 10, Units: 104, Wave: 64}
			if d.Properties != want || d.PCI != "0000:c1:00.0" || d.Memory != 1<<33 || d.Free != 1 || d.Driver != "6.2.41134" || d.Compiler != "6.2" || d.Lacks() != "" {
				t.Errorf("%+v", *d)
			}
			callAll(t, api, d)
		})
	}
}

func callAll(t *testing.T, api *hiprt.API, d *hiprt.Device) {
	c, err := api.NewContext(d)
	must(t, c, err)
	s, err := c.NewStream()
	must(t, s, err)
	data, got := bytes.Repeat([]byte("sinter"), 1000), make([]byte, 6000)
	var m [2]*hiprt.Memory
	for i := range m {
		m[i], err = c.Alloc(len(data))
		must(t, m[i], err)
	}
	if err := errors.Join(s.Write(m[0], 0, data), s.Copy(m[1], m[0], len(data)), s.Zero(m[1], 3), s.Read(got, m[1], 0)); err != nil {
		t.Fatal(err)
	}
	clear(data[:3])
	if !bytes.Equal(got, data) {
		t.Error("not what was written")
	}
	var refused *hiprt.BuildError
	if _, err := api.Compile(d, "nonsense", []string{"-O3"}); !errors.As(err, &refused) || refused.Log != "line 1: nonsense" {
		t.Error(err)
	}
	code, err := api.Compile(d, "fine", []string{"-O3"})
	if string(code) != "\x7fELFfine\x00" || err != nil {
		t.Fatalf("%q, %v", code, err)
	}
	if _, err := c.Load([]byte("fine")); err == nil || !strings.Contains(err.Error(), "hipErrorInvalidImage") {
		t.Error(err)
	}
	program, err := c.Load(code)
	must(t, program, err)
	if _, err := program.Launch("fall", 1, 1, 0); err == nil || !strings.Contains(err.Error(), "fall: hipErrorNotFound") {
		t.Error(err)
	}
	l, err := program.Launch("fill", 4, 256, 3)
	if err != nil {
		t.Fatal(err)
	}
	l.SetMemory(0, m[1])
	l.SetInt(1, 1000)
	l.SetInt(2, 7)
	if begun, err := s.Run([]*hiprt.Launch{l}, got[:4000], m[1]); !begun || err != nil {
		t.Fatal(begun, err)
	}
	if first, last := binary.LittleEndian.Uint32(got), binary.LittleEndian.Uint32(got[3996:]); first != 7 || last != 7 {
		t.Errorf("filled with %d and %d", first, last)
	}
}

func must[T interface{ Close() error }](t *testing.T, v T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Errorf("%T: %v", v, err)
		}
	})
}

// TestOld has a driver without one of the functions.
func TestOld(t *testing.T) {
	if _, err := library(t, "OLD"); err == nil || !strings.Contains(err.Error(), "no function hipModuleLaunchKernel") {
		t.Error(err)
	}
}
