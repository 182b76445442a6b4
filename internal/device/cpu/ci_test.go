//go:build ci

package cpu

func init() { graphs, graphsOff = 100_000, 2_000 }
