package sinter

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/trial"
)

// The kinds of device in this package. Importing others for their effect adds
// theirs.
func init() {
	device.Register(device.Driver{
		Name: "cpu",
		List: func() ([]device.Properties, error) { return []device.Properties{cpu.Describe()}, nil },
		Open: func(int) (device.Device, error) { return cpu.New(cpu.Options{}) },
	})
	device.Register(device.Driver{
		Name: "interp",
		List: func() ([]device.Properties, error) {
			return []device.Properties{{Description: "reference interpreter, slow: the measure of all other devices", Driver: "go", Software: true,
				Rules: []string{"subnormals", "exact-division", "exact-roots", "fma", "nan", "signed-zeros"}, DTypes: []string{"f32", "bf16", "f16", "int8", "int4"}}}, nil
		},
		Open: func(int) (device.Device, error) { return interp.New(), nil },
	})
}

// Device runs programs. It may be used from many goroutines; the zero Device
// is an error when used.
type Device struct {
	name     string
	dev      device.Device
	compiler device.Compiler
	programs programs

	kind       string
	variant    string            // of the processor: what CPUOptions ask for
	properties device.Properties // but of the processor, of which they are asked for anew
	limit      int64             // of memory; 0: none
	copies     bool              // what lies in the host's memory, by a driver that is not sinter's
	doubtful   atomic.Bool       // something has failed on it
}

// DeviceInfo describes a device that Open can open, or says why one is missing.
// What is not known is empty.
type DeviceInfo struct {
	Name        string // what Open takes
	Kind        string // cuda, hip, metal, vulkan, opencl, cpu or interp
	Description string // of the hardware
	Vendor      string
	Driver      string // name and version of what runs it
	UUID        string
	Memory      uint64 // bytes in all
	Free        uint64 // bytes that can be had
	// Software is a device that computes on the processor, by way of a driver:
	// "auto" never stands for it.
	Software bool
	Features []string // abilities of the hardware and its driver, as "avx2" or "fp64"
	DTypes   []string // number formats that products compute in, as far as that was tried
	// Rules of arithmetic that the device keeps in f32, as far as that was tried:
	// "subnormals", "exact-division", "exact-roots", "fma" (a multiply-add rounds
	// once), "nan" (is not dropped) and "signed-zeros".
	Rules []string
	// Alternatives are the names under which other drivers offer the same
	// hardware.
	Alternatives []string
	// Reason says why the device cannot be opened, and is empty if it can;
	// Remedy says what to do about it.
	Reason, Remedy string
}

// Open opens a device by name: "cpu", "interp", the n-th of several as
// "opencl:1", or "auto" for the best there is, which is "cpu" where no GPU is.
// GPUs come with the import of package gpu. One that has not been used before is
// compared with the processor first, on one small program, and refused where it
// computes something else.
func Open(name string) (*Device, error) { return OpenWith(name, DeviceOptions{}) }

// DeviceOptions say how a device is opened. The zero value is what Open does.
type DeviceOptions struct {
	// MemoryLimit bounds the bytes that tensors and programs may take on the
	// device together: what is beyond is an OutOfMemoryError. 0 is all there is.
	// The referee, "interp", has no limit.
	MemoryLimit int64
	// Unchecked opens a device without comparing it with the processor.
	Unchecked bool
	// Tuning is the folder with what runs under WithTuning have found; "" is
	// sinter/tuning in the user's cache folder.
	Tuning string
	// Untuned leaves alone what was found: every kernel is as if nothing were
	// kept, and nothing can be looked for. Options.NoOpt "tuning" does so for
	// one program.
	Untuned bool
}

// OpenWith opens a device by name, with options.
func OpenWith(name string, o DeviceOptions) (*Device, error) {
	if name == "auto" {
		return openBest(o)
	}
	kind, index, err := device.ParseName(name)
	if err != nil {
		return nil, err
	}
	for _, d := range device.Registered() {
		if d.Name == kind {
			return openDriver(d, index, name, o)
		}
	}
	_, err = device.Find(entries(), name)
	return nil, err
}

// CPUOptions configure a device on the processor.
type CPUOptions struct {
	// ISA is "amx-fp16", "amx", "avx512", "avx2", "neon" or "generic"; "" is the best that
	// the processor and the operating system have. Some hypervisors hide that a processor
	// has AMX-FP16: asked for by name, it is tried.
	ISA     string
	Threads int // a run uses at most so many; 0: GOMAXPROCS at the time
}

// OpenCPU opens the device "cpu" with options.
func OpenCPU(o CPUOptions) (*Device, error) {
	isa := cpu.Best
	if o.ISA != "" {
		var err error
		if isa, err = cpu.ParseISA(o.ISA); err != nil {
			return nil, fmt.Errorf("device \"cpu\": %w", err)
		}
	}
	dev, err := cpu.New(cpu.Options{ISA: isa, Threads: o.Threads})
	if err != nil {
		return nil, fmt.Errorf("device \"cpu\": %w", err)
	}
	return &Device{name: "cpu", dev: dev, compiler: dev, kind: "cpu", variant: fmt.Sprint(isa, o.Threads)}, nil
}

// openDriver opens a device of a driver. What cannot be there without asking
// the driver first, it is not asked for.
func openDriver(d device.Driver, index int, name string, o DeviceOptions) (*Device, error) {
	var properties device.Properties
	if d.External || index > 0 {
		list, _ := d.Properties()
		if index >= len(list) {
			_, err := device.Find(entries(), name)
			return nil, err
		}
		properties = list[index]
	}
	dev, err := d.Open(index)
	if err != nil {
		return nil, fmt.Errorf("device %q: %w", name, err)
	}
	c, ok := dev.(device.Compiler)
	if !ok {
		dev.Close()
		return nil, fmt.Errorf("device %q cannot compile", name)
	}
	if d.External && !o.Unchecked {
		if err := trial.Default().Once(context.Background(), device.NameOf(d, index), d.Name, properties, dev); err != nil {
			return nil, fmt.Errorf("device %q: %w", name, errors.Join(err, dev.Close()))
		}
	}
	if err := limitMemory(dev, o.MemoryLimit); err != nil {
		return nil, fmt.Errorf("device %q: %w", name, errors.Join(err, dev.Close()))
	}
	keepTuning(dev, d.Name, properties, o)
	return &Device{name: name, dev: dev, compiler: c, kind: d.Name, properties: properties, limit: o.MemoryLimit, copies: d.External}, nil
}

func limitMemory(d device.Device, n int64) error {
	keeper, ok := d.(device.MemoryKeeper)
	switch {
	case n == 0:
	case n < 0:
		return fmt.Errorf("a memory limit of %d bytes: use at least 1, or 0 for none", n)
	case !ok:
		return errors.New("it cannot limit its memory")
	default:
		keeper.SetMemoryLimit(n)
	}
	return nil
}

// TrimMemory gives back the memory that the device holds for later runs alone.
// These take a little longer then.
func (d *Device) TrimMemory() error {
	if err := d.check(); err != nil {
		return err
	}
	if keeper, ok := d.dev.(device.MemoryKeeper); ok {
		return keeper.TrimMemory()
	}
	return nil
}

// entries asks all drivers what they have.
func entries() []device.Entry {
	var all []device.Entry
	for _, d := range device.Registered() {
		all = append(all, device.Entries(d)...)
	}
	return device.Arrange(all)
}

// Devices lists the devices that there are by kind, GPUs first, and for each kind
// of which there is none the reason. "auto" need not be the first: it is neither
// software nor a GPU slower than the processor. Drivers of GPUs are opened for it, in this
// process. A GPU that several drivers reach is listed once.
func Devices() []DeviceInfo {
	var all []DeviceInfo
	for _, e := range entries() {
		if known, ok := trial.Default().Abilities(e.Kind, e.Properties); ok {
			e.DTypes, e.Rules = known.Formats, known.Rules
		}
		all = append(all, DeviceInfo{
			Name: e.Name, Kind: e.Kind, Description: e.Description, Vendor: e.Vendor, Driver: e.Driver, UUID: e.UUID,
			Memory: e.Memory, Free: e.Free, Software: e.Software, Features: e.Features, DTypes: e.DTypes, Rules: e.Rules,
			Alternatives: e.Alternatives, Reason: e.Reason, Remedy: e.Remedy,
		})
	}
	return all
}

// Name is what the device was opened as.
func (d *Device) Name() string {
	if d == nil {
		return ""
	}
	return d.name
}

func (d *Device) String() string { return d.Name() }

func (d *Device) check() error {
	if d == nil || d.dev == nil {
		return errors.New("the zero Device runs nothing: make one with Open")
	}
	return nil
}

// doubt notes that something failed on the device, unless it is what a device that
// works says too.
func (d *Device) doubt(ctx context.Context, err error) {
	if err == nil || !d.copies || ctx.Err() != nil {
		return
	}
	if elsewhere, ok := errors.AsType[*unreadError](err); ok && elsewhere.device != d {
		return
	}
	_, index := errors.AsType[*IndexError](err)
	_, division := errors.AsType[*DivisionError](err)
	_, full := errors.AsType[*OutOfMemoryError](err)
	if !index && !division && !full {
		d.doubtful.Store(true)
	}
}

// failed tells whether the device is lost: something has failed on it, and now a
// small program does too.
func (d *Device) failed() bool {
	if !d.doubtful.Swap(false) {
		return false
	}
	err := trial.Run(context.Background(), d.dev)
	_, full := errors.AsType[*OutOfMemoryError](err)
	return err != nil && !full
}

// Close ends the device once what runs on it has ended. Values that lie in
// its memory alone are lost. Who drops a device without Close has its memory
// given back by the garbage collector if it is "cpu"; of others the driver has
// it until the process ends.
func (d *Device) Close() error {
	if err := d.check(); err != nil {
		return err
	}
	d.programs.close()
	return d.named(d.dev.Close())
}

// named says which device it is that is closed.
func (d *Device) named(err error) error {
	if err == ErrClosed {
		return fmt.Errorf("device %q is %w", d.name, err)
	}
	return err
}

// Stats describes a device's memory and programs.
type Stats struct {
	Allocated int64 // bytes in use
	Cached    int64 // bytes held for reuse
	Peak      int64 // the most bytes that were in use
	Programs  int   // compiled and kept
	CodeBytes int   // of the kept programs
	Compiled  int64 // programs compiled so far
	Reused    int64 // times that a kept program served
	// Hint says how to compile less, where that seems worth it.
	Hint string
}

// Stats counts memory and programs.
func (d *Device) Stats() Stats {
	if d.check() != nil {
		return Stats{}
	}
	m := d.dev.Stats()
	s := d.programs.stats()
	s.Allocated, s.Cached, s.Peak = m.Allocated, m.Cached, m.Peak
	return s
}

type deviceKey struct{}

// WithDevice makes Values and Eval under the context run on d.
func WithDevice(ctx context.Context, d *Device) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithValue(ctx, deviceKey{}, d)
}

// deviceFrom is the device that WithDevice chose, or the best.
func deviceFrom(ctx context.Context) (*Device, error) {
	if d, ok := ctx.Value(deviceKey{}).(*Device); ok {
		return d, d.check()
	}
	return bestDevice()
}
