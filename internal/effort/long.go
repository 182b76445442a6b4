//go:build long

package effort

const long = true
