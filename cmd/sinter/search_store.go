package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	store "github.com/sinterml/sinter/cmd/sinter/internal/index"
	"github.com/sinterml/sinter/cmd/sinter/internal/ranking"
	"github.com/sinterml/sinter/hub"
)

// indexFolder is where indexes are: the folder that a flag names, or one in the
// user's cache folder.
func (a *app) indexFolder(flag string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	dir, err := cacheFolder(runtime.GOOS, a.env)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "sinter", "index"), nil
}

// cacheFolder is os.UserCacheDir in an environment that is given.
func cacheFolder(system string, env func(string) string) (string, error) {
	home := env("HOME")
	switch dir := env("XDG_CACHE_HOME"); {
	case system == "windows" && env("LocalAppData") != "":
		return env("LocalAppData"), nil
	case system == "windows":
		return "", errors.New("%LocalAppData% is not set")
	case system == "darwin" && home != "":
		return filepath.Join(home, "Library", "Caches"), nil
	case system != "darwin" && filepath.IsAbs(dir):
		return dir, nil
	case home == "":
		return "", errors.New("neither $XDG_CACHE_HOME nor $HOME is set")
	}
	return filepath.Join(home, ".cache"), nil
}

// keeper is the index on disk. Where it cannot be used it keeps nothing, and
// searches go on without.
type keeper struct {
	app  *app
	open *store.Index // nil: nothing is kept
}

// openKeeper opens the index of a model.
func (a *app) openKeeper(q query) *keeper {
	k := &keeper{app: a}
	if q.noIndex {
		return k
	}
	if m := a.settings.model; m != "" {
		if _, err := hub.Find(m); err != nil { // which opening the model tells
			return k
		}
	}
	open := func() error {
		folder, err := a.indexFolder(q.index)
		if err != nil {
			return err
		}
		id, err := a.modelIdentity(folder)
		if err != nil {
			return err
		}
		id = store.KeyOf(id.String(), fmt.Sprint(vectorVersion, ranking.Format))
		warn := func(message string) { a.warn("%s", message) }
		k.open, err = store.Open(folder, store.Space{Model: a.modelName(), DType: a.dtype(), ID: id}, store.Options{Warn: warn})
		return err
	}
	if err := open(); err != nil {
		k.fail(err)
	}
	return k
}

// setDim says how long vectors are, which opening the model tells.
func (k *keeper) setDim(n int) {
	if k.open == nil {
		return
	}
	if err := k.open.SetDim(n); err != nil {
		k.fail(err)
	}
}

// fail gives the index up and says why, unless the search was given up.
func (k *keeper) fail(err error) {
	k.open = nil
	if !errors.Is(err, context.Canceled) {
		k.app.warn("searching without an index: %v (--no-index says nothing, --index DIR keeps it elsewhere)", err)
	}
}

// read looks things up; without an index f is not called.
func (k *keeper) read(ctx context.Context, f func(*store.Reader) error) {
	if k.open == nil {
		return
	}
	if err := k.open.Read(ctx, f); err != nil {
		k.fail(err)
	}
}

// commit keeps a batch, also of a search that is being given up, but then it
// waits for other processes no longer than a person does. The caller tells
// failed of an error.
func (k *keeper) commit(ctx context.Context, b store.Batch) error {
	if k.open == nil {
		return nil
	}
	const patience = 500 * time.Millisecond
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, cancel) })()
	_, err := k.open.Commit(own, b)
	return err
}

// failed gives the index up where a commit did not succeed.
func (k *keeper) failed(err error) {
	if err != nil {
		k.open = nil
		k.app.warn("the index cannot be kept, the search goes on without it: %v", err)
	}
}

// announce tells other processes what this one indexes, until the function it
// returns is called, and gives what others do.
func (k *keeper) announce(ctx context.Context, roots []string) (busy []string, done func()) {
	if k.open == nil {
		return nil, func() {}
	}
	busy, done, err := k.open.Announce(ctx, roots)
	if err != nil {
		k.fail(err)
		return nil, func() {}
	}
	return busy, done
}
