package launch

import (
	"errors"
	"sync"
)

// maxStreams bounds the streams of a device for runs at a time; more runs wait.
const maxStreams = 16

// Streams are what a driver has to run something beside something else: streams,
// or queues. A run has one to itself until it has ended.
type Streams[S interface{ Close() error }] struct {
	open   func() (S, error)
	places chan struct{}

	mu     sync.Mutex
	idle   []S
	closed bool
}

// NewStreams makes streams when they are needed.
func NewStreams[S interface{ Close() error }](open func() (S, error)) *Streams[S] {
	return &Streams[S]{open: open, places: make(chan struct{}, maxStreams)}
}

// Take gives a stream that nobody uses, for Give, and waits while there are too
// many.
func (p *Streams[S]) Take() (S, error) {
	p.places <- struct{}{}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return s, nil
	}
	s, err := p.open()
	if err != nil {
		<-p.places
	}
	return s, err
}

// Give gives a stream back: what was started on it has ended.
func (p *Streams[S]) Give(s S) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = s.Close()
	} else {
		p.idle = append(p.idle, s)
	}
	<-p.places
}

// Close closes the streams; those of runs that have not ended when these have.
func (p *Streams[S]) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var err error
	for _, s := range p.idle {
		err = errors.Join(err, s.Close())
	}
	p.idle = nil
	return err
}
