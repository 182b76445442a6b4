//go:build !unix

package main

func ignoreClosedPipe() {}
