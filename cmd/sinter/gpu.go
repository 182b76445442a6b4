//go:build !static

package main

import _ "github.com/sinterml/sinter/gpu" // the build with the tag static leaves it out: it has no dynamic section
