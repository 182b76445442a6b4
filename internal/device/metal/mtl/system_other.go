//go:build !darwin

package mtl

func system() string { return "" }
