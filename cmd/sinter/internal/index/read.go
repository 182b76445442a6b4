package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Reader looks things up as of the last commit. It is valid until the function
// it was given to returns.
type Reader struct {
	index *Index
	tx    *tx // nil where nothing was committed yet
}

// Read calls f with what is committed. Writers of all processes wait until f
// returns, so f should look up and nothing else. A reader waits for no writer
// for long. f is called again, and must
// begin anew, if the index turns out to be damaged and was mended.
func (x *Index) Read(ctx context.Context, f func(*Reader) error) error {
	err := x.read(ctx, f)
	if !x.ofDB(err) {
		return err
	}
	if err := x.repair(ctx); err != nil {
		return err
	}
	return x.read(ctx, f)
}

func (x *Index) read(ctx context.Context, f func(*Reader) error) error {
	if x.space.Dim == 0 { // so nothing can be told of segments
		return f(&Reader{index: x})
	}
	release, err := acquire(ctx, x.path(lockName), false, readPatience)
	if errors.Is(err, errBusy) {
		if err := x.readCopy(ctx, f); err == nil || !errors.Is(err, errBusy) {
			return err
		}
		release, err = acquire(ctx, x.path(lockName), false, patience)
	}
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	defer release()
	if _, err := os.Stat(x.path(dbName)); errors.Is(err, fs.ErrNotExist) {
		switch numbers, err := segmentNumbers(x.dir); {
		case err != nil:
			return err
		case len(numbers) > 0:
			return &DamageError{x.path(dbName), "it is missing"}
		}
		return f(&Reader{index: x})
	}
	return view(x.path(dbName), func(t *tx) error { return f(&Reader{index: x, tx: t}) })
}

// File is what was found at an absolute path.
func (r *Reader) File(path string) (File, bool) {
	value, ok := r.get(tableFiles, []byte(path))
	if !ok {
		return File{}, false
	}
	return decodeFile(value)
}

// Content gives the pieces that a content was split into. Whether their chunks
// are sound is for Segments.Verify to say.
func (r *Reader) Content(k Key) ([]Piece, bool) {
	value, ok := r.get(tableContents, k[:])
	if !ok {
		return nil, false
	}
	return decodeContent(value)
}

// Chunk finds a chunk.
func (r *Reader) Chunk(k Key) (Ref, bool) {
	value, ok := r.get(tableChunks, k[:])
	if !ok {
		return Ref{}, false
	}
	return decodeRef(value)
}

func (r *Reader) get(table string, key []byte) ([]byte, bool) {
	if r.tx == nil {
		return nil, false
	}
	return r.tx.get(table, key)
}

// Segments maps the segments that refs of this Reader point into. The caller
// closes them.
func (r *Reader) Segments() (*Segments, error) {
	if r.tx == nil {
		return &Segments{dim: r.index.space.Dim}, nil
	}
	places, err := r.tx.places()
	if err != nil {
		return nil, err
	}
	return r.index.openSegments(places), nil
}

// places are those of all blocks, by segment and slot.
func (t *tx) places() ([]blockPlace, error) {
	var places []blockPlace
	err := t.each(tableBlocks, func(key, value []byte) error {
		if p, ok := decodePlace(key, value); ok {
			places = append(places, p)
		}
		return nil
	})
	return places, err
}
