// Package trial compares a device with the processor before anything else runs
// on it, and remembers for which that went well.
package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/diskcache"
)

// Memory is what is remembered: within the process, and on disk where there is a
// folder for it. The zero Memory has the process alone.
type Memory struct {
	Disk *diskcache.Cache
	good sync.Map // of joined keys
}

// Default remembers in the user's folder of such files.
func Default() *Memory { return shared() }

const maxBytes = 1 << 20

var shared = sync.OnceValue(func() *Memory { return &Memory{Disk: diskcache.Open("checked", maxBytes)} })

// WrongError is a device that computed something else than the processor, or
// failed to.
type WrongError struct {
	Device, Driver string
	Err            error
}

func (e *WrongError) Error() string {
	driver := ""
	if e.Driver != "" {
		driver = " (" + e.Driver + ")"
	}
	first, _, _ := strings.Cut(e.Err.Error(), "\ngraph\n")
	return fmt.Sprintf("the device was compared with the processor and is not used: %s; use another device, update its driver%s, and report the file that 'sinter device check %s' writes", first, driver, e.Device)
}

func (e *WrongError) Unwrap() error { return e.Err }

// Once runs the trial on a device that has not passed it with this driver and
// this build of the program. What fails is tried again the next time.
func (m *Memory) Once(ctx context.Context, name, kind string, p device.Properties, d device.Device) error {
	key := keyOf(kind, p)
	joined := strings.Join(key, "\x00")
	if _, ok := m.good.Load(joined); ok {
		return nil
	}
	if _, ok := m.Disk.Get(key...); ok {
		m.good.Store(joined, true)
		return nil
	}
	return m.Again(ctx, name, kind, p, d)
}

// Again runs the trial whatever is remembered.
func (m *Memory) Again(ctx context.Context, name, kind string, p device.Properties, d device.Device) error {
	if err := Run(ctx, d); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return &WrongError{Device: name, Driver: p.Driver, Err: err}
	}
	key := keyOf(kind, p)
	m.good.Store(strings.Join(key, "\x00"), true)
	m.Disk.Put([]byte("passed"), key...)
	return nil
}

// Keep remembers on disk something else that was measured, under what it depends
// on beside the device, its driver and this build of the program.
func (m *Memory) Keep(data []byte, kind string, p device.Properties, key ...string) {
	m.Disk.Put(data, append(keyOf(kind, p), key...)...)
}

// Kept is what Keep was given.
func (m *Memory) Kept(kind string, p device.Properties, key ...string) ([]byte, bool) {
	return m.Disk.Get(append(keyOf(kind, p), key...)...)
}

// Run compares a device with the processor on one small program.
func Run(ctx context.Context, d device.Device) (err error) {
	r, ok := d.(suite.Runner)
	if !ok {
		return fmt.Errorf("%T cannot compile", d)
	}
	c, err := cpu.New(cpu.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return suite.Trial(ctx, r, c)
}

// keyOf is all that a result depends on.
func keyOf(kind string, p device.Properties) []string {
	return []string{"trial", program(), kind, p.UUID, p.PCI, p.Vendor, p.Description, p.Driver}
}
