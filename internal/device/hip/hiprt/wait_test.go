package hiprt_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device/hip/hiprt"
	"github.com/sinterml/sinter/internal/device/hip/hiprt/hiptest"
)

// A driver that does not say when what it runs has ended is not used any more, and
// memory of that stays: until the device is given back, if it has ended by then.
func TestWaitFails(t *testing.T) {
	for _, ends := range []bool{true, false} {
		var code hiprt.Code
		f := &hiptest.Fake{WaitFails: func() hiprt.Code { return code }}
		api := f.API()
		all, err := api.Devices()
		if err != nil {
			t.Fatal(err)
		}
		c, err := api.NewContext(all[0])
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		var m [2]*hiprt.Memory
		for i := range m {
			if m[i], err = c.Alloc(16); err != nil {
				t.Fatal(err)
			}
		}
		code = hiprt.OutOfMemory
		if err := s.Copy(m[0], m[1], 16); !errors.Is(err, code) || !strings.Contains(err.Error(), "the device failed: hipStreamSynchronize") {
			t.Errorf("waiting: %v", err)
		}
		if ends {
			code = 0
		}
		_, alloc := c.Alloc(1)
		_, stream := c.NewStream()
		for name, err := range map[string]error{"copy": s.Copy(m[1], m[0], 16), "read": s.Read(make([]byte, 16), m[0], 0), "alloc": alloc, "stream": stream} {
			if !errors.Is(err, hiprt.OutOfMemory) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := errors.Join(m[0].Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if left := f.Live(); len(left) != 3 || !slices.Contains(left, "hipMalloc") {
			t.Errorf("before the device is given back there are %v", left)
		}
		if err := c.Close(); errors.Is(err, code) == ends || ends && err != nil {
			t.Error(err)
		}
		err = m[1].Close()
		if left := f.Live(); err != nil || ends && len(left) > 0 || !ends && len(left) != 3 {
			t.Errorf("afterwards there are %v; %v", left, err)
		}
	}
}
