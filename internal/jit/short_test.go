//go:build !long

package jit

const long = false
