// Package diskcache keeps on disk what would take time to find out again, for
// later processes and others at the same time. It may be lost: whatever is wrong
// with a file, a folder or the disk, there is just nothing kept.
package diskcache

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sinterml/sinter/internal/atomicfile"
)

// Cache is a folder of files, one for each key. A nil Cache keeps nothing.
type Cache struct {
	Dir   string
	Limit int64 // bytes of all files; those that were used longest ago go first
}

// Open is the cache of a name in the user's folder for such files, or nil where
// there is none.
func Open(name string, limit int64) *Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return &Cache{Dir: filepath.Join(dir, "sinter", name), Limit: limit}
}

// A file is the magic, the SHA-256 of what follows, the length of the key in four
// bytes, the key, the data.
var magic = []byte("sinter cache 1\n")

const header = 15 + sha256.Size + 4

// joined is a key as one text, which no other list gives.
func joined(key []string) []byte {
	var b []byte
	for _, k := range key {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(k)))
		b = append(b, k...)
	}
	return b
}

func (c *Cache) path(key []byte) string {
	sum := sha256.Sum256(key)
	return filepath.Join(c.Dir, hex.EncodeToString(sum[:16]))
}

// Get finds what was kept under a key. A file that is damaged is removed.
func (c *Cache) Get(key ...string) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	k := joined(key)
	path := c.path(k)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > c.Limit {
		return nil, false
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	data, ok := open(file, k)
	if !ok {
		_ = os.Remove(path)
		return nil, false
	}
	now := time.Now()
	if now.Sub(info.ModTime()) > time.Minute {
		_ = os.Chtimes(path, now, now) // the time of its last use
	}
	return data, true
}

// open finds the data in a file that is whole.
func open(file, key []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(file, magic)
	if !ok || len(file) < header {
		return nil, false
	}
	sum, rest := rest[:sha256.Size], rest[sha256.Size:]
	if have := sha256.Sum256(rest); !bytes.Equal(have[:], sum) {
		return nil, false
	}
	n := int(binary.LittleEndian.Uint32(rest))
	rest = rest[4:]
	if n > len(rest) || !bytes.Equal(rest[:n], key) {
		return nil, false
	}
	return rest[n:], true
}

// Put keeps data under a key, in the place of what was there, and makes room.
func (c *Cache) Put(data []byte, key ...string) {
	if c == nil {
		return
	}
	k := joined(key)
	rest := binary.LittleEndian.AppendUint32(nil, uint32(len(k)))
	rest = append(append(rest, k...), data...)
	if int64(header+len(k)+len(data)) > c.Limit || os.MkdirAll(c.Dir, 0o700) != nil {
		return
	}
	f, err := atomicfile.Create(nil, c.path(k), 0o600)
	if err != nil {
		return
	}
	sum := sha256.Sum256(rest)
	for _, part := range [][]byte{magic, sum[:], rest} {
		if _, err := f.Write(part); err != nil {
			f.Discard()
			return
		}
	}
	if f.Commit() == nil {
		c.prune(filepath.Base(c.path(k)))
	}
}

// abandoned is how old a file may be that a process is still writing.
const abandoned = time.Hour

// prune removes the files that were used longest ago, as far as all take more
// than the limit, but not the one just written; and what processes left behind
// that were ended while they wrote.
func (c *Cache) prune(latest string) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return
	}
	type file struct {
		name string
		size int64
		used time.Time
	}
	var files []file
	total := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() { // another process has removed it
			continue
		}
		if _, temporary := atomicfile.Of(e.Name()); temporary {
			if time.Since(info.ModTime()) > abandoned {
				_ = os.Remove(filepath.Join(c.Dir, e.Name()))
			}
			continue
		}
		total += info.Size()
		if e.Name() != latest {
			files = append(files, file{e.Name(), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name)) })
	for _, f := range files {
		if total <= c.Limit {
			return
		}
		if err := os.Remove(filepath.Join(c.Dir, f.name)); err == nil || errors.Is(err, os.ErrNotExist) { // another process makes room, too
			total -= f.size
		}
	}
}
