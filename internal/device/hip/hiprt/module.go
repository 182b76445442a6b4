package hiprt

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// BuildError is a program that the compiler refused.
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

// maxCode bounds what a compiler may say or make, in bytes.
const maxCode = 1 << 30

// Compile makes code for a device that Lacks nothing.
func (a *API) Compile(d *Device, source string, options []string) ([]byte, error) {
	defer dynlib.KeepSignals()()
	text, name, p := dynlib.CString(source), dynlib.CString("program.hip"), new(ProgramID)
	if err := checkCompiler(a.CreateProgram(p, text, name), "hiprtcCreateProgram"); err != nil {
		return nil, err
	}
	defer a.DestroyProgram(p)
	list := make([]*byte, 0, len(options)+1)
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, o := range append([]string{"--gpu-architecture=" + d.Arch}, options...) {
		c := dynlib.CString(o)
		pin.Pin(c)
		list = append(list, c)
	}
	if code := a.CompileProgram(*p, len(list), &list[0]); code != 0 {
		log, _ := contents(*p, a.ProgramLogSize, a.ProgramLog, "hiprtcGetProgramLog")
		return nil, &BuildError{d.Name, strings.TrimRight(string(log), "\x00"), &Error{"hiprtcCompileProgram", code}}
	}
	return contents(*p, a.CodeSize, a.GetCode, "hiprtcGetCode")
}

// contents asks how long something is, and for it.
func contents(p ProgramID, size func(ProgramID, *int) CompilerCode, get func(ProgramID, *byte) CompilerCode, call string) ([]byte, error) {
	n := new(int)
	if err := checkCompiler(size(p, n), call+"Size"); err != nil {
		return nil, err
	}
	if *n <= 0 || *n > maxCode {
		return nil, fmt.Errorf("%s: %d bytes", call, *n)
	}
	b := make([]byte, *n)
	return b, checkCompiler(get(p, &b[0]), call)
}

// Module is a program on the device.
type Module struct {
	context *Context
	id      ModuleID
	closed  atomic.Bool
}

// Load brings code to the device.
func (c *Context) Load(code []byte) (*Module, error) {
	defer dynlib.KeepSignals()()
	if c.closed.Load() {
		return nil, ErrClosed
	}
	if len(code) == 0 {
		return nil, &Error{"hipModuleLoadData", NoBinaryForGPU}
	}
	leave, err := c.enter()
	defer leave()
	if err != nil {
		return nil, err
	}
	id := new(ModuleID)
	if err := c.check(c.api.ModuleLoadData(id, &code[0]), "hipModuleLoadData"); err != nil {
		return nil, err
	}
	return &Module{context: c, id: *id}, nil
}

// Close unloads the program.
func (m *Module) Close() error {
	if m.closed.Swap(true) {
		return ErrClosed
	}
	return m.context.give(func() error {
		code := m.context.api.ModuleUnload(m.id)
		if m.context.lost.Load() {
			return nil
		}
		return m.context.check(code, "hipModuleUnload")
	})
}

// Launch is a kernel with its ranges and arguments, all of eight bytes.
type Launch struct {
	call          string
	function      FunctionID
	groups, items uint32
	values        []uint64
	params        []unsafe.Pointer // to values
}

// Launch finds a function of the program and prepares a launch of it.
func (m *Module) Launch(name string, groups, items, args int) (*Launch, error) {
	f, text := new(FunctionID), dynlib.CString(name)
	leave, err := m.context.enter()
	defer leave()
	if err != nil {
		return nil, err
	}
	if err := m.context.check(m.context.api.ModuleGetFunction(f, m.id, text), "hipModuleGetFunction "+name); err != nil {
		return nil, err
	}
	l := &Launch{call: "hipModuleLaunchKernel " + name, function: *f, groups: uint32(groups), items: uint32(items), values: make([]uint64, args), params: make([]unsafe.Pointer, args)}
	for i := range l.values {
		l.params[i] = unsafe.Pointer(&l.values[i])
	}
	return l, nil
}

// SetMemory passes memory, or a null pointer for nil. The caller keeps it open.
func (l *Launch) SetMemory(arg int, m *Memory) {
	l.values[arg] = 0
	if m != nil {
		l.values[arg] = uint64(m.address)
	}
}

// SetInt passes a 64-bit integer.
func (l *Launch) SetInt(arg int, n int64) { l.values[arg] = uint64(n) }
