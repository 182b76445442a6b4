package cl

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Program is code that was compiled for a device.
type Program struct {
	context *Context
	id      ProgramID
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
	if log := strings.TrimSpace(e.Log); log != "" {
		text += "\n" + log
	}
	return text
}

func (e *BuildError) Unwrap() error { return e.Err }

// Build compiles source with options of the compiler, like "-cl-std=CL1.2".
func (c *Context) Build(source, options string) (*Program, error) {
	defer dynlib.KeepSignals()()
	if c.closed.Load() {
		return nil, ErrClosed
	}
	start, n, code := dynlib.CString(source), len(source), new(Code)
	var pin runtime.Pinner
	pin.Pin(start)
	defer pin.Unpin()
	id := c.api.CreateProgramSource(c.id, &start, &n, code)
	if err := check(*code, "clCreateProgramWithSource"); err != nil {
		return nil, err
	}
	return c.build(id, options)
}

// BuildBinary takes up what Binary gave in another process, with the same
// options. A driver refuses what is not its own, or of another version.
func (c *Context) BuildBinary(binary []byte, options string) (*Program, error) {
	defer dynlib.KeepSignals()()
	if c.closed.Load() {
		return nil, ErrClosed
	}
	if len(binary) == 0 {
		return nil, &Error{"clCreateProgramWithBinary", InvalidBinary}
	}
	start, n, device, status, code := &binary[0], len(binary), c.Device.ID, new(Code), new(Code)
	var pin runtime.Pinner
	pin.Pin(start)
	defer pin.Unpin()
	id := c.api.CreateProgramBinary(c.id, &device, &n, &start, status, code)
	if *code == 0 {
		*code = *status
	}
	if err := check(*code, "clCreateProgramWithBinary"); err != nil {
		return nil, err
	}
	return c.build(id, options)
}

func (c *Context) build(id ProgramID, options string) (*Program, error) {
	p, device := &Program{context: c, id: id}, c.Device.ID
	if err := check(c.api.BuildProgram(id, &device, dynlib.CString(options)), "clBuildProgram"); err != nil {
		e := &BuildError{Device: c.Device.Name, Log: p.Log(), Err: err}
		_ = p.Close()
		return nil, e
	}
	return p, nil
}

// Log is what the compiler said, warnings included.
func (p *Program) Log() string {
	const buildLog = 0x1183
	v, _ := query(func(param uint32, size int, value *byte, needed *int) Code {
		return p.context.api.GetProgramBuildInfo(p.id, p.context.Device.ID, param, size, value, needed)
	}, buildLog)
	return text(v)
}

// Binary is the compiled program, for this device and version of its driver
// alone.
func (p *Program) Binary() ([]byte, error) {
	const sizes, binaries = 0x1165, 0x1166
	v, c := query(func(param uint32, size int, value *byte, needed *int) Code {
		return p.context.api.GetProgramInfo(p.id, param, size, value, needed)
	}, sizes)
	if err := check(c, "clGetProgramInfo CL_PROGRAM_BINARY_SIZES"); err != nil {
		return nil, err
	}
	n := number(v)
	if n == 0 || n > maxInfo {
		return nil, fmt.Errorf("clGetProgramInfo: a binary of %d bytes", n)
	}
	b := make([]byte, n)
	start := &b[0]
	var pin runtime.Pinner
	pin.Pin(start)
	defer pin.Unpin()
	c = p.context.api.GetProgramInfo(p.id, binaries, int(unsafe.Sizeof(start)), (*byte)(unsafe.Pointer(&start)), nil)
	return b, check(c, "clGetProgramInfo CL_PROGRAM_BINARIES")
}

// Close gives the program back once its kernels are closed.
func (p *Program) Close() error {
	if p.closed.Swap(true) {
		return ErrClosed
	}
	return check(p.context.api.ReleaseProgram(p.id), "clReleaseProgram")
}
