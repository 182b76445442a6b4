package cu

import (
	"errors"
	"time"
)

// errNoEvents is a driver whose graphs cannot have events.
var errNoEvents = errors.New("CUDA: graphs have no events before version 11.1")

// RunTimed runs launches one after another, as a graph that is made for this run,
// waits for the last, and says how long each took: took has room for all. Beside an
// error it says whether any of them may have begun.
func (s *Stream) RunTimed(launches []*Launch, took []time.Duration) (begun bool, err error) {
	c := s.context
	if c.api.GraphAddEventRecordNode == nil {
		return false, errNoEvents
	}
	g := &Graph{context: c, launches: launches}
	defer func() {
		for _, e := range g.events {
			err = errors.Join(err, e.Close())
		}
	}()
	for range len(launches) + 1 {
		e, err := c.NewEvent(true)
		if err != nil {
			return false, err
		}
		g.events = append(g.events, e)
	}
	if err := g.make(); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if err := g.Run(s, nil); err != nil {
		e, ok := errors.AsType[*Error](err)
		return !ok || e.Call != CallGraphLaunch, err
	}
	for i := range launches {
		if took[i], err = g.events[i+1].Since(g.events[i]); err != nil {
			return true, err
		}
	}
	return true, nil
}
