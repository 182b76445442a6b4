//go:build !long

package cpu

const long = false
