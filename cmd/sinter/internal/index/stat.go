package index

import (
	"io/fs"
	"time"
)

// Stat is what the system says of a file without reading it.
type Stat struct {
	Size   int64
	MTime  int64  // nanoseconds since 1970
	CTime  int64  // of the last change of anything about the file; 0 where there is none
	Device uint64 // with Inode: which file it is; 0 where there is none
	Inode  uint64
}

// StatOf reads what fs.Stat or a walk found.
func StatOf(info fs.FileInfo) Stat {
	s := Stat{Size: info.Size(), MTime: info.ModTime().UnixNano()}
	s.system(info)
	return s
}

// File is what was found at a path.
type File struct {
	Stat
	Read    int64 // nanoseconds since 1970: when reading the file began; 0 if it changed meanwhile
	Content Key
}

// Same reports whether a file still is what was read.
//
// Equal Stats alone do not say so: a file system stamps changes with a clock
// that stands still for a while, and a change right after the read may have the
// stamp, and the size, of the one before. So only a file whose stamps were old
// when it was read is trusted, as git's index does; others are read again, and
// trusted from then on.
func (f File) Same(now Stat) bool {
	return f.Stat == now && f.Read-max(f.MTime, f.CTime) > int64(f.granularity())
}

// granularity is for how long a file's clock may stand still: 10 ms in Linux
// with 100 ticks a second, 2 s in FAT, whose times have no fractions; with room
// for clocks that are set.
func (s Stat) granularity() time.Duration {
	if s.MTime%int64(time.Second) == 0 {
		return 3 * time.Second
	}
	return 100 * time.Millisecond
}
