//go:build !long

package effort

const long = false
