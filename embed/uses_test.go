package embed

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/model/minilm"
)

// While Close waits for a run, later calls are refused: they had waited with it,
// whatever their contexts said.
func TestCloseKeepsNobodyWaiting(t *testing.T) {
	e, err := New(t.Context(), Options{FS: minilm.FS})
	if err != nil {
		t.Fatal(err)
	}
	begun, end := make(chan struct{}), make(chan struct{})
	run := e.queue.run
	e.queue.run = func(ctx context.Context, texts [][]int32, tokens int) ([][]float32, error) {
		close(begun)
		<-end
		return run(ctx, texts, tokens)
	}
	first, closed, later := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := e.Encode(t.Context(), []string{"a"})
		first <- err
	}()
	<-begun
	go func() { closed <- e.Close() }()
	go func() {
		for !e.uses.ended() {
			time.Sleep(time.Millisecond)
		}
		_, err := e.EncodeIDs(t.Context(), nil)
		later <- err
	}()
	select {
	case err := <-later:
		if !errors.Is(err, sinter.ErrClosed) || err.Error() != "embed: the encoder is closed" {
			t.Errorf("while it is closed: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("a call waits for others to end")
	}
	select {
	case err := <-closed:
		t.Errorf("closed during a run: %v", err)
	default:
	}
	close(end)
	if err := errors.Join(<-first, <-closed); err != nil {
		t.Error(err)
	}
	if _, err := e.Encode(t.Context(), nil); !errors.Is(err, sinter.ErrClosed) {
		t.Errorf("no texts, of a closed encoder: %v", err)
	}
}

// A closed Reranker says so of no texts too.
func TestClosedReranker(t *testing.T) {
	r, err := NewReranker(t.Context(), Options{FS: mapFS(tinyCross(t))})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Scores(t.Context(), "q", nil); !errors.Is(err, sinter.ErrClosed) {
		t.Errorf("no texts: %v", err)
	}
	if err := r.Close(); !errors.Is(err, sinter.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}
