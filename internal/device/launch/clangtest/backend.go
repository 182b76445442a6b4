package clangtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/dynlib"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// GPU is the shape that drivers of GPUs are asked in, with smaller groups.
var GPU = entry.Shape{Items: 64, Near: 16 << 10, Shared: 32 << 10, Flat: 8, Product: cstyle.GemmForGroups}

// Backend runs programs of one language on the processor. All memory is between
// canaries.
type Backend struct {
	Clang *Clang
	Style *cstyle.Style
	// Seen, if set, is given every program.
	Seen func(source string)
}

// running is held by the one run there is at a time: shared memory of groups is
// static.
var running sync.Mutex

const canary = 64 // bytes, of the value 0xC5, before and behind memory

type memory struct{ all []uint64 }

func (m *memory) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&m.all[0])), 8*len(m.all))[canary:]
}

func (m *memory) start() *byte { return &m.bytes()[0] }

// Alloc rounds up to words, in which nothing is told to be out of place.
func (b *Backend) Alloc(n int) (launch.Memory, error) {
	m := &memory{make([]uint64, (n+7)/8+2*canary/8)}
	for i := range m.all {
		m.all[i] = 0xC5C5C5C5C5C5C5C5
	}
	return m, nil
}

// Close says if a kernel wrote beside the memory.
func (m *memory) Close() error {
	for i := range canary / 8 {
		if m.all[i] != 0xC5C5C5C5C5C5C5C5 || m.all[len(m.all)-1-i] != 0xC5C5C5C5C5C5C5C5 {
			return fmt.Errorf("a kernel has written beside its memory of %d bytes", 8*len(m.all)-2*canary)
		}
	}
	return nil
}

func (b *Backend) Import([]byte) (launch.Memory, error) { return nil, nil }

func (b *Backend) Write(to launch.Memory, offset int, p []byte) error {
	copy(to.(*memory).bytes()[offset:], p)
	return nil
}

func (b *Backend) Read(p []byte, from launch.Memory, offset int) error {
	copy(p, from.(*memory).bytes()[offset:])
	return nil
}

func (b *Backend) Copy(to, from launch.Memory, n int) error {
	copy(to.(*memory).bytes()[:n], from.(*memory).bytes())
	return nil
}

func (b *Backend) Zero(m launch.Memory, n int) error {
	clear(m.(*memory).bytes()[:n])
	return nil
}

func (b *Backend) Close() error { return nil }

// Emit adds to each entry point a function that takes its arguments as a list.
func (b *Backend) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	p, err := b.Style.Write(kernels)
	if err != nil {
		return nil, err
	}
	if b.Seen != nil {
		b.Seen(p.Source)
	}
	text := p.Source
	space := ""
	if b.Style == cstyle.HIP {
		space = "sinter::"
	}
	for _, k := range kernels {
		text += fmt.Sprintf("extern \"C\" void run_%s(void **a) { call(%s%s, a); }\n", k.Entry, space, k.Entry)
	}
	return &launch.Code{Text: text, Args: p.Args}, nil
}

func (b *Backend) Build(c *launch.Code) (launch.Program, error) {
	file, err := b.Clang.library(context.Background(), c.Text, b.Style == cstyle.HIP)
	if err != nil {
		return nil, err
	}
	lib, err := dynlib.Open(dynlib.Spec{API: "the program", Linux: []string{file}, Darwin: []string{file}})
	if err != nil {
		return nil, err
	}
	run, err := lib.Symbol("run_groups")
	return &built{lib, run, style{b.Style}}, err
}

type built struct {
	lib   *dynlib.Library
	run   uintptr
	style style
}

func (p *built) Close() error { return nil }

// recording keeps the values of arguments and where they lie.
type recording struct {
	program  *built
	launches []*recorded
}

type recorded struct {
	launch.Launch
	entry   uintptr
	values  []unsafe.Pointer // by argument
	numbers []int64          // likewise
}

type style struct{ *cstyle.Style }

// list points to each argument of an entry point: as they come, or by slots.
func (s style) list(k *recorded) []unsafe.Pointer {
	var all, buffers []unsafe.Pointer
	var numbers []int64
	for i, a := range k.Args {
		if a.Kind == entry.ArgBuffer {
			buffers = append(buffers, k.values[i])
			all = append(all, unsafe.Pointer(&k.values[i]))
		} else {
			numbers = append(numbers, k.numbers[i])
			all = append(all, unsafe.Pointer(&k.numbers[i]))
		}
	}
	if s.Slots == 0 {
		return all
	}
	n := s.Direct(len(buffers))
	all = nil
	for i := range n {
		all = append(all, unsafe.Pointer(&buffers[i]))
	}
	if far := buffers[n:]; len(far) > 0 {
		first := &far[0]
		all = append(all, unsafe.Pointer(&first))
	}
	first := &numbers[0]
	return append(all, unsafe.Pointer(&first))
}

func (p *built) Record(launches []launch.Launch) (launch.Recording, error) {
	r := &recording{program: p}
	for _, l := range launches {
		at, err := p.lib.Symbol("run_" + l.Kernel.Entry)
		if err != nil {
			return nil, err
		}
		k := &recorded{Launch: l, entry: at, values: make([]unsafe.Pointer, len(l.Args)), numbers: make([]int64, len(l.Args))}
		r.launches = append(r.launches, k)
	}
	return r, nil
}

func (r *recording) SetMemory(at, arg int, m launch.Memory) error {
	if mem, ok := m.(*memory); ok {
		r.launches[at].values[arg] = unsafe.Pointer(mem.start())
	}
	return nil
}

func (r *recording) SetInt(at, arg int, n int64) error {
	r.launches[at].numbers[arg] = n
	return nil
}

func (r *recording) Close() error { return nil }

// Run runs the kernels one after another, as long as each returns.
func (r *recording) Run() error {
	running.Lock()
	defer running.Unlock()
	for _, k := range r.launches {
		if err := r.launch(k); err != nil {
			return err
		}
	}
	return nil
}

func (r *recording) launch(k *recorded) error {
	args := r.program.style.list(k)
	n := len(args)
	args = append(args, nil, nil, nil)
	barriers := uintptr(0)
	if k.Kernel.Groups() {
		barriers = 1
	}
	code := dynlib.Call(r.program.run, k.entry, uintptr(unsafe.Pointer(&args[0])), uintptr(n), uintptr(k.Groups), uintptr(k.Items), barriers)
	runtime.KeepAlive(args)
	runtime.KeepAlive(k)
	switch int32(code) {
	case 1:
		return errors.New("no memory for work-items")
	case 2:
		return fmt.Errorf("%s: work-items of a group came to different numbers of barriers", strings.TrimSpace(k.Kernel.Entry))
	}
	return nil
}
