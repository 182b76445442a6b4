//go:build race

package timetest

const underRace = true
