package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// argsReg holds the address of the argument block, words in the order of
// native.Layout, when code is entered. Code is a leaf that never moves RSP,
// never pushes, keeps RBP, and ends with VZEROUPPER and RET; all other registers
// are its own.
const argsReg = asm.RDI
