//go:build !linux

package jit

func thisCPU() int { return -1 }

func yieldCPU() {}

func leaveCPU(int) {}
