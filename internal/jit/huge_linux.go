package jit

import "golang.org/x/sys/unix"

// adviseHuge says that useHugePages does something.
const adviseHuge = true

// useHugePages is a hint: a kernel without huge pages refuses it, which costs
// nothing.
func useHugePages(mem []byte) { _ = unix.Madvise(mem, unix.MADV_HUGEPAGE) }
