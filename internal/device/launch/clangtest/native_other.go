//go:build !amd64

package clangtest

var native []string
