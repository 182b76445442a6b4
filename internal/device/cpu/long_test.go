//go:build long

package cpu

func init() { graphs = 1_000_000 }
