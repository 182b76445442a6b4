//go:build long

package opencl

func init() { everyShape = true }
