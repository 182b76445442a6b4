//go:build long

package rewrite

func init() { graphs = 20_000 }
