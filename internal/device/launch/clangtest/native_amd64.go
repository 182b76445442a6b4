package clangtest

// native lets the compiler use the processor's own FMA.
var native = []string{"-march=native"}
