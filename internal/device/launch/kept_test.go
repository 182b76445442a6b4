package launch_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/toy"
)

// keeper has a driver whose programs are their code and its version.
type keeper struct {
	launch.Backend
	launchtest.Process
	built atomic.Int64
}

// compiled is a program with the code that it was made of.
type compiled struct {
	launch.Program
	text string
}

func (k *keeper) Build(c *launch.Code) (launch.Program, error) {
	k.built.Add(1)
	p, err := k.Backend.Build(c)
	return &compiled{p, c.Text}, err
}

func (k *keeper) Identity() []string {
	device := "first"
	if k.Second {
		device = "second"
	}
	return []string{device, k.Driver}
}

func (k *keeper) Compiled(p launch.Program) ([]byte, error) {
	return []byte(k.Driver + p.(*compiled).text), nil
}

func (k *keeper) Restore(c *launch.Code, b []byte) (launch.Program, error) {
	if k.Foreign || string(b) != k.Driver+c.Text {
		return nil, errors.New("of another version")
	}
	p, err := k.Backend.Build(&launch.Code{Text: string(b[len(k.Driver):])})
	return &compiled{p, c.Text}, err
}

func TestProgramsAreKept(t *testing.T) {
	launchtest.KeepsPrograms(t, func(t *testing.T, p launchtest.Process) launchtest.Opened {
		k := &keeper{Backend: toy.Backend(0), Process: p}
		o := toy.Options()
		o.Kept = p.Kept
		return launchtest.Opened{Device: open(t, k, o), Compiled: func() int { return int(k.built.Load()) }}
	})
}
