package main

import (
	"os"
	"testing"
)

const envMain = "SINTER_TEST_MAIN" // set: the test binary is the command

// TestMain is the command for tests that start it, and where the command starts
// itself to ask drivers.
func TestMain(m *testing.M) {
	if like := os.Getenv(envGPU); like != "" {
		registerGPU(like)
	}
	if os.Getenv(envMain) != "" || len(os.Args) > 1 && os.Args[1] == probeName {
		main()
	}
	os.Exit(m.Run())
}
