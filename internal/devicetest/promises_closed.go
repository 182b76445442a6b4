package devicetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
)

// closed: modules and buffers.
func closed(f *fixture) error {
	if err := f.run(); err != nil {
		return err
	}
	for _, list := range [][]device.Buffer{f.b.Leaves, f.b.Outputs} {
		kept := list[0]
		gone, err := f.Alloc(kept.Size())
		if err != nil {
			return err
		}
		if err := gone.Close(); err != nil {
			return err
		}
		if err := gone.Close(); !errors.Is(err, device.ErrClosed) {
			return fmt.Errorf("closing a buffer again: %v", err)
		}
		list[0] = gone
		err = suite.Submit(context.Background(), f, f.b)
		list[0] = kept
		if err == nil {
			return errors.New("a closed buffer was used")
		}
	}
	if err := f.m.Close(); err != nil {
		return err
	}
	if err := suite.Submit(context.Background(), f, f.b); !errors.Is(err, device.ErrClosed) {
		return fmt.Errorf("running a closed module: %v", err)
	}
	if err := f.m.Close(); !errors.Is(err, device.ErrClosed) {
		return fmt.Errorf("closing a module again: %v", err)
	}
	return nil
}

func closedDevice(f *fixture) error {
	if err := f.Close(); err != nil {
		return err
	}
	if err := suite.Submit(context.Background(), f, f.b); !errors.Is(err, device.ErrClosed) {
		return fmt.Errorf("running: %v", err)
	}
	if _, err := f.CompileGraph(context.Background(), f.c.graph, device.Options{}); !errors.Is(err, device.ErrClosed) {
		return fmt.Errorf("compiling: %v", err)
	}
	if _, err := f.Alloc(8); !errors.Is(err, device.ErrClosed) {
		return fmt.Errorf("allocating: %v", err)
	}
	if _, err := f.Import(make([]byte, 8)); !errors.Is(err, device.ErrClosed) {
		return fmt.Errorf("importing: %v", err)
	}
	if err := f.Close(); !errors.Is(err, device.ErrClosed) {
		return fmt.Errorf("closing again: %v", err)
	}
	f.Stats()
	return nil
}

// closedMidway closes a module while goroutines run it: what has begun ends
// well, what comes later is refused.
func (s *subject) closedMidway() error {
	c, err := caseNamed("linear layer wide")
	if err != nil {
		return err
	}
	r := c.runs[len(c.runs)-1]
	rounds := 8
	if s.slow && effort.Less() {
		rounds = 3
	}
	for range rounds {
		m, err := s.two.CompileGraph(context.Background(), c.graph, s.compile)
		if err != nil {
			return err
		}
		var wait sync.WaitGroup
		errs := make([]error, 4)
		for g := range errs {
			wait.Go(func() {
				for {
					got, err := suite.Execute(context.Background(), s.two, m, c.graph, r)
					if err == nil {
						err = c.Compare(got, r)
					}
					if err != nil {
						if !errors.Is(err, device.ErrClosed) {
							errs[g] = err
						}
						return
					}
				}
			})
		}
		time.Sleep(500 * time.Microsecond)
		closing := m.Close()
		wait.Wait()
		if err := errors.Join(append(errs, closing)...); err != nil {
			return err
		}
	}
	return nil
}
