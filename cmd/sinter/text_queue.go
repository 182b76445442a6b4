package main

import "sync"

// A batch is given on once it holds so many texts or bytes, or once no more
// has arrived. That bounds memory, and a slow writer sees answers at once.
const (
	batchTexts = 256
	batchBytes = 256 << 10
)

// textQueue stands between who reads texts and who works on them. It holds one
// batch: one text at least, however long.
type textQueue struct {
	mu      sync.Mutex
	changed sync.Cond
	texts   []string
	bytes   int
	ended   bool // nothing comes any more
	err     error
	stopped bool // nobody waits any more
}

func newTextQueue() *textQueue {
	q := &textQueue{}
	q.changed.L = &q.mu
	return q
}

// put waits for room. It is false once the queue is stopped.
func (q *textQueue) put(text string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped && len(q.texts) > 0 && (len(q.texts) == batchTexts || q.bytes+len(text) > batchBytes) {
		q.changed.Wait()
	}
	if q.stopped {
		return false
	}
	q.texts = append(q.texts, text)
	q.bytes += len(text)
	q.changed.Broadcast()
	return true
}

// end says that no more texts come, and why where that is a fault.
func (q *textQueue) end(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended, q.err = true, err
	q.changed.Broadcast()
}

// stop lets go of all who wait.
func (q *textQueue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.changed.Broadcast()
}

// take waits for a text and takes all that are there. Without more these are
// the last, and stood before what err tells of.
func (q *textQueue) take() (texts []string, more bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped && !q.ended && len(q.texts) == 0 {
		q.changed.Wait()
	}
	texts, q.texts, q.bytes = q.texts, nil, 0
	q.changed.Broadcast()
	return texts, !q.ended && !q.stopped, q.err
}
