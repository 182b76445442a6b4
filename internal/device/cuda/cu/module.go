package cu

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Module is code that the driver has compiled for a device.
type Module struct {
	context *Context
	id      ModuleID
	closed  atomic.Bool
}

// BuildError is a program that the driver's compiler refused.
type BuildError struct {
	Device string
	Log    string // the compiler's
	Err    error
}

func (e *BuildError) Error() string {
	text := fmt.Sprintf("the compiler for %s refuses a program: %v", e.Device, e.Err)
	if inner, ok := e.Err.(*Error); ok && remedies[inner.Code] != "" {
		text += ": " + remedies[inner.Code]
	}
	if log := strings.TrimSpace(e.Log); log != "" {
		text += "\n" + log
	}
	return text
}

func (e *BuildError) Unwrap() error { return e.Err }

// remedies are for failures that are not the program's.
var remedies = map[Code]string{
	UnsupportedPTXVersion: "update NVIDIA's driver",
	NoJITCompiler:         "install libnvidia-ptxjitcompiler, which belongs to NVIDIA's driver",
	NoBinaryForGPU:        "this GPU is older than the program is for",
}

const (
	maxLog  = 64 << 10 // bounds what the compiler says
	maxCode = 1 << 30  // and what it makes
)

// Options of cuModuleLoadDataEx.
const (
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

// Load compiles PTX.
func (c *Context) Load(ptx string) (*Module, error) { return c.load(dynlib.CString(ptx)) }

// LoadCode takes up what Compile made. A driver refuses what its device does not
// run.
func (c *Context) LoadCode(code []byte) (*Module, error) {
	if !bytes.HasPrefix(code, []byte("\x7fELF")) {
		return nil, fmt.Errorf("CUDA: %d bytes that are no code for a device", len(code))
	}
	return c.load(&code[0])
}

// load loads an image, whose length it says itself.
func (c *Context) load(image *byte) (*Module, error) {
	defer dynlib.KeepSignals()()
	log := make([]byte, maxLog)
	var pin runtime.Pinner // values does not hold it
	pin.Pin(&log[0])
	defer pin.Unpin()
	options, values := &[...]uint32{jitErrorLog, jitErrorLogSize}, &[...]uintptr{ptr(&log[0]), maxLog}
	m := &Module{context: c}
	err := c.make("cuModuleLoadDataEx", func() Code {
		return c.api.ModuleLoadDataEx(&m.id, image, uint32(len(options)), &options[0], &values[0])
	})
	if err == nil {
		return m, nil
	}
	if c.Lost() != nil || err == ErrClosed {
		return nil, err
	}
	log, _, _ = bytes.Cut(log, []byte{0})
	return nil, &BuildError{Device: c.Device.Name, Log: string(log), Err: err}
}

// Compile makes code of PTX that this device, and those that are like it, run
// without compiling. Load has the compiler's log where this fails. All calls are
// made on one thread: what one thread begins, a driver's compiler, as that of CUDA
// 13.0, crashes on when another goes on with it.
func (c *Context) Compile(ptx string) (code []byte, err error) {
	defer dynlib.KeepSignals()()
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	l := new(LinkID)
	if err := c.make("cuLinkCreate", func() Code { return c.api.LinkCreate(l) }); err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, c.drop("cuLinkDestroy", func() Code { return c.api.LinkDestroy(*l) }))
	}()
	const inputPTX = 1
	text := dynlib.CString(ptx)
	if err := c.call("cuLinkAddData", func() Code { return c.api.LinkAddData(*l, inputPTX, text, len(ptx)+1) }); err != nil {
		return nil, err
	}
	start, n := new(*byte), new(int)
	if err := c.call("cuLinkComplete", func() Code { return c.api.LinkComplete(*l, start, n) }); err != nil {
		return nil, err
	}
	if *start == nil || *n <= 0 || *n > maxCode {
		return nil, fmt.Errorf("cuLinkComplete: code of %d bytes", *n)
	}
	return bytes.Clone(unsafe.Slice(*start, *n)), nil
}

// Close gives the module back once nothing that was started uses it.
func (m *Module) Close() error {
	if m.closed.Swap(true) {
		return ErrClosed
	}
	return m.context.drop("cuModuleUnload", func() Code { return m.context.api.ModuleUnload(m.id) })
}

// Function is a kernel of a module, and what the compiler made of it.
type Function struct {
	Name      string
	Registers int // of each thread
	Local     int // bytes of memory of each thread: what registers do not hold
	Shared    int // bytes of memory of a block that it declares
	MaxGroup  int // threads that a block of it may have
	context   *Context
	id        FunctionID
	mu        sync.Mutex
	dynamic   int // bytes of shared memory beside the declared that were asked for; guarded by mu
}

// Attributes of functions.
const (
	funcMaxThreads = 0
	funcShared     = 1
	funcLocal      = 3
	funcRegisters  = 4
	funcMaxDynamic = 8
)

// Function finds a kernel. Its code is brought to the device now: a driver that
// does so at the first launch has the device stand still then.
func (m *Module) Function(name string) (*Function, error) {
	c := m.context
	f := &Function{Name: name, context: c}
	entry := dynlib.CString(name)
	if err := c.call("cuModuleGetFunction "+name, func() Code { return c.api.ModuleGetFunction(&f.id, m.id, entry) }); err != nil {
		return nil, err
	}
	for _, a := range []struct {
		attribute int
		to        *int
	}{{funcRegisters, &f.Registers}, {funcLocal, &f.Local}, {funcShared, &f.Shared}, {funcMaxThreads, &f.MaxGroup}} {
		v := new(int32)
		err := c.call("cuFuncGetAttribute "+name, func() Code { return c.api.FuncGetAttribute(v, a.attribute, f.id) })
		if err != nil {
			return nil, err
		}
		*a.to = int(*v)
	}
	return f, nil
}

// reserve lets blocks have so many bytes of shared memory beside the declared.
func (f *Function) reserve(dynamic int) error {
	c := f.context
	if most := c.Device.SharedMost; f.Shared+dynamic > max(most, c.Device.Shared) {
		return fmt.Errorf("CUDA: kernel %s needs %d bytes of shared memory, %s has %d", f.Name, f.Shared+dynamic, c.Device.Name, most)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if dynamic <= f.dynamic || f.Shared+dynamic <= c.Device.Shared {
		return nil
	}
	err := c.call("cuFuncSetAttribute "+f.Name, func() Code { return c.api.FuncSetAttribute(f.id, funcMaxDynamic, int32(dynamic)) })
	if err == nil {
		f.dynamic = dynamic
	}
	return err
}
