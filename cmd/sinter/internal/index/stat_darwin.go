package index

import (
	"io/fs"
	"syscall"
)

func (s *Stat) system(info fs.FileInfo) {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.CTime, s.Device, s.Inode = sys.Ctimespec.Nano(), uint64(sys.Dev), sys.Ino
	}
}
