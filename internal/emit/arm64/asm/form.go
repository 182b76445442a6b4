package asm

// form is which operands an instruction has and where they go.
type form uint8

const (
	formNone     form = iota + 1
	formX             // n
	formXXX           // d, n, m
	formXXXLsl        // d, n, m, shift of m
	formXXXX          // d, n, m, a
	formXX            // n, m: a comparison
	formXtoX          // d, n
	formXXImm         // d, n, 12 bits, which may be shifted by 12
	formXImm          // n, 12 bits
	formWide          // d, 16 bits, which of four quarters
	formLsl           // d, n, shift to the left
	formShift         // d, n, shift to the right
	formLow           // d, n, number of the low bits
	formSelect        // d, n, m, condition
	formSet           // d, condition
	formXMem          // general register, address
	formVMem          // vector register, address
	formVBase         // vector register, base without displacement
	formLit           // vector register, label of a constant
	formJump          // label
	formJumpIf        // condition, label
	formJumpX         // n, label
	formV             // d
	formVV            // d, n
	formVVV           // d, n, m
	formVVVLane       // d, n, lane of m
	formVVExt         // d, n, m, first byte
	formVShl          // d, n, shift to the left
	formVShr          // d, n, shift to the right
	formVX            // d, general n
	formXV            // general d, n
	formVLane         // d, lane of n
	formXLane         // general d, lane of n
	formLaneX         // lane of d, general n
	formLaneLane      // lane of d, lane of n
)

// row is one instruction. lanes are the arrangements of d, n and m; size is that
// of a lane or of what an access moves, as a power of two.
type row struct {
	name  string
	form  form
	word  uint32
	size  uint8
	lanes [3]string
}

func same(s string) [3]string          { return [3]string{s, s, s} }
func lanes(d, n string) [3]string      { return [3]string{d, n, n} }
func byLane(d, n, m string) [3]string  { return [3]string{d, n, m} }
func general(width string) [3]string   { return [3]string{width, width, width} }
func access(register string) [3]string { return [3]string{register} }
