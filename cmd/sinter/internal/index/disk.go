package index

import (
	"io"
	"os"

	"github.com/sinterml/sinter/internal/atomicfile"
)

// disk is where segments are written, so that tests can fill it or pull its
// plug.
type disk interface {
	// Open opens a file to write, and makes it where it is missing.
	Open(name string) (diskFile, error)
	// SyncDir makes sure that the names in a folder are kept.
	SyncDir(name string) error
}

type diskFile interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

type osDisk struct{}

func (osDisk) Open(name string) (diskFile, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
}

func (osDisk) SyncDir(name string) error { return atomicfile.SyncDir(name) }
