//go:build long

package x86

func init() { seeds = 20_000 }
