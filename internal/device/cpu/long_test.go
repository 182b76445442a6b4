//go:build long

package cpu

// long says that tests take their time.
const long = true
