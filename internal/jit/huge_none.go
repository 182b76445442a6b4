//go:build !linux

package jit

const adviseHuge = false

func useHugePages([]byte) {}
