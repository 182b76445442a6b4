package embed

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sinterml/sinter"
)

// Short texts that come one at a time from many goroutines would each read all
// the weights from memory. So what arrives while the processors are busy waits
// and then runs together: a vector does not depend on its neighbours in a batch.

// coalescer runs requests in batches: fields above mu are set.
type coalescer struct {
	run    func(ctx context.Context, texts [][]int32, tokens int) ([][]float32, error)
	tokens int // of a batch, at most, unless one request has more
	ahead  int // batches of one caller that run at once; 0: 1

	mu       sync.Mutex
	most     int        // batches that run at once; 0: 1
	leaders  int        // callers that run a batch
	waiting  []*request // in order
	expected int        // callers that were served and have not asked again
	until    time.Time  // when they are no longer waited for

	room sync.RWMutex // held by all that run, alone by one that needs all memory
}

// request is the texts of one caller.
type request struct {
	ctx     context.Context
	texts   [][]int32
	tokens  int
	vectors [][]float32
	err     error
	leads   bool      // was told to run the next batch
	turn    chan bool // true: run the next batch, of which r is the first; false: it is done
}

// batchesAtOnce is how many batches a device is given, most by all callers and ahead
// by one: one fills a few processors, but a GPU would have nothing to do between one
// and the next.
func batchesAtOnce(device string) (most, ahead int) {
	most, ahead = max(1, runtime.GOMAXPROCS(0)/4), 1
	if isGPU(device) {
		ahead = 2
	}
	return max(most, ahead), ahead
}

// do embeds texts, together with those of others where that helps.
func (c *coalescer) do(ctx context.Context, texts [][]int32, tokens int) ([][]float32, error) {
	r := &request{ctx: ctx, texts: texts, tokens: tokens, turn: make(chan bool, 1)}
	c.mu.Lock()
	c.waiting = append(c.waiting, r)
	c.expected = max(0, c.expected-1)
	if c.leaders < max(1, c.most) {
		c.leaders++
		r.lead()
	} else {
		r.keepTexts()
	}
	c.mu.Unlock()
	select {
	case lead := <-r.turn:
		if lead {
			c.lead(r)
		}
		return r.vectors, r.err
	case <-ctx.Done():
		c.leave(r)
		return nil, context.Cause(ctx)
	}
}

// keepTexts copies them: another may be reading them when a caller that gave up
// has its slices back.
func (r *request) keepTexts() {
	texts := make([][]int32, len(r.texts))
	for i, t := range r.texts {
		texts[i] = slices.Clone(t)
	}
	r.texts = texts
}

// lead tells r to run the next batch. The caller holds mu.
func (r *request) lead() {
	r.leads = true
	r.turn <- true
}

// patience is the part of a batch's time that the next leader waits at most for
// the callers of that batch: most ask again within microseconds, and one left
// behind costs a batch of its own. By the time that callers who come now and
// then are back it is over.
const patience = 1.0 / 32

// gather returns when all who are expected have asked, the batch is full or
// patience has run out. The caller holds mu.
func (c *coalescer) gather() {
	for c.expected > 0 && !c.full() && time.Now().Before(c.until) {
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	c.expected = 0
}

// full tells whether those who wait fill a batch. The caller holds mu.
func (c *coalescer) full() bool {
	tokens := 0
	for _, waits := range c.waiting {
		tokens += waits.tokens
	}
	return tokens >= c.tokens
}

// lead runs r and those behind it that fit a batch, then passes the lead on.
func (c *coalescer) lead(r *request) {
	c.mu.Lock()
	c.gather()
	first := slices.Index(c.waiting, r)
	end, tokens := first+1, r.tokens
	for end < len(c.waiting) && !c.waiting[end].leads && tokens+c.waiting[end].tokens <= c.tokens {
		tokens += c.waiting[end].tokens
		end++
	}
	batch := slices.Clone(c.waiting[first:end])
	c.waiting = slices.Delete(c.waiting, first, end)
	c.mu.Unlock()
	defer c.served(batch, time.Now())
	c.runBatch(batch, tokens)
}

var errPanicked = errors.New("the run of these texts, with those of another caller, ended in a panic, which that caller has")

// served tells the callers of a batch that it is done, and the next to lead.
func (c *coalescer) served(batch []*request, start time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expected = len(batch)
	c.until = time.Now().Add(time.Duration(patience * float64(time.Since(start))))
	for _, r := range batch[1:] {
		if r.vectors == nil && r.err == nil { // the panic is the leader's
			r.err = errPanicked
		}
		r.turn <- false
	}
	c.passOn()
}

// passOn tells the first who waits to lead, unless there are too many who do. The
// caller holds mu.
func (c *coalescer) passOn() {
	for _, r := range c.waiting {
		if !r.leads && c.leaders <= max(1, c.most) {
			r.lead()
			return
		}
	}
	c.leaders--
}

// leave takes back a request that nobody runs yet; the results of one that is
// running are dropped.
func (c *coalescer) leave(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiting, r)
	if i < 0 {
		return
	}
	c.waiting = slices.Delete(c.waiting, i, i+1)
	if r.leads {
		c.passOn()
	}
}

// runBatch gives every request its vectors. A batch of several is run as long as
// one of them waits; where it fails each tries for itself.
func (c *coalescer) runBatch(batch []*request, tokens int) {
	if len(batch) > 1 && c.runTogether(batch, tokens) == nil {
		return
	}
	for _, r := range batch {
		r.vectors, r.err = c.runInRoom(r.ctx, r.texts, r.tokens)
	}
}

func (c *coalescer) runTogether(batch []*request, tokens int) error {
	var texts [][]int32
	for _, r := range batch {
		texts = append(texts, r.texts...)
	}
	ctx, stop := waitedFor(batch)
	defer stop()
	vectors, err := c.runInRoom(ctx, texts, tokens)
	if err != nil {
		return err
	}
	for _, r := range batch {
		for _, v := range vectors[:len(r.texts)] {
			r.vectors = append(r.vectors, slices.Clone(v)) // or it would keep those of all others
		}
		vectors = vectors[len(r.texts):]
	}
	return nil
}

// waitedFor is a context that ends when those of all requests have: under load,
// with deadlines, work that nobody waits for would make the next late too.
func waitedFor(batch []*request) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(batch[0].ctx))
	var waiting atomic.Int64
	waiting.Store(int64(len(batch)))
	stops := make([]func() bool, len(batch))
	for i, r := range batch {
		stops[i] = context.AfterFunc(r.ctx, func() {
			if waiting.Add(-1) == 0 {
				cancel(context.Cause(r.ctx))
			}
		})
	}
	return ctx, func() {
		for _, s := range stops {
			s()
		}
		cancel(nil)
	}
}

// runInRoom runs a batch. Where memory is full, as others run beside it, it does so
// once more when those have ended; if that helps, batches run one by one from then on.
func (c *coalescer) runInRoom(ctx context.Context, texts [][]int32, tokens int) ([][]float32, error) {
	c.mu.Lock()
	alone := c.most < 2
	c.mu.Unlock()
	vectors, err := c.runBeside(ctx, texts, tokens)
	if alone || !errors.As(err, new(*sinter.OutOfMemoryError)) {
		return vectors, err
	}
	c.room.Lock()
	defer c.room.Unlock()
	if vectors, err = c.run(ctx, texts, tokens); err == nil {
		c.mu.Lock()
		c.most = 1
		c.mu.Unlock()
	}
	return vectors, err
}

func (c *coalescer) runBeside(ctx context.Context, texts [][]int32, tokens int) ([][]float32, error) {
	c.room.RLock()
	defer c.room.RUnlock() // after a panic too: others may need all memory
	return c.run(ctx, texts, tokens)
}
