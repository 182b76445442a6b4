//go:build long

package jit

// long says that tests take their time.
const long = true
