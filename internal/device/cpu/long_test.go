//go:build long

package cpu

// long says that tests take their time.
const long = true

func init() { graphs = 1_000_000 }
