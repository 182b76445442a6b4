package asm

// Op is an instruction, the arrangement of its lanes included: FADD4S.
type Op uint16

// The instructions.
const (
	noOp Op = iota
	RET
	NOP
	BR

	ADD
	SUB
	CMP
	AND
	ORR
	EOR
	MUL
	SDIV
	UDIV
	LSLV
	ASRV
	LSRV
	MADD
	MSUB
	ADDI
	SUBI
	CMPI
	CMNI
	MOVZ
	MOVN
	MOVK
	LSL
	LSR
	ASR
	UBFX
	SXTW
	CSEL
	CSNEG
	CSET

	LDRB
	LDRSB
	LDRH
	LDRSH
	LDRW
	LDRSW
	LDR
	STRB
	STRH
	STRW
	STR
	LDRVB
	LDRVH
	LDRVS
	LDRVD
	LDRVQ
	STRVB
	STRVH
	STRVS
	STRVD
	STRVQ
	LD1R4S
	LD1R2D
	LDRLIT

	B
	BCOND
	CBZ
	CBNZ

	FADD4S
	FSUB4S
	FMUL4S
	FDIV4S
	FMAX4S
	FMIN4S
	FMAXNM4S
	FMLA4S
	FMLS4S
	FCMEQ4S
	FCMGE4S
	FCMGT4S
	FADD2D
	FSUB2D
	FMUL2D
	FDIV2D
	FMAX2D
	FMIN2D
	FMLA2D
	FMLS2D
	FCMEQ2D
	FCMGT2D
	ADD4S
	SUB4S
	MUL4S
	MLA4S
	SMAX4S
	SMIN4S
	UMAX4S
	UMIN4S
	CMEQ4S
	CMGT4S
	CMHI4S
	SSHL4S
	USHL4S
	ADD2D
	SUB2D
	CMEQ2D
	CMGT2D
	CMHI2D
	SSHL2D
	AND16B
	BIC16B
	ORR16B
	EOR16B
	BSL16B
	BIT16B
	BIF16B
	FABS4S
	FNEG4S
	FSQRT4S
	FRINTN4S
	FRINTM4S
	FRINTZ4S
	FCVTZS4S
	FCVTZU4S
	SCVTF4S
	UCVTF4S
	FABS2D
	FNEG2D
	FSQRT2D
	FRINTN2D
	FRINTM2D
	FRINTZ2D
	FCVTZS2D
	FCVTZU2D
	SCVTF2D
	UCVTF2D
	ABS4S
	NEG4S
	ABS2D
	NEG2D
	NOT16B
	FCVTL4S
	FCVTN4H
	FCVTL2D
	FCVTL2D2
	FCVTN2S
	FCVTN2S2
	XTN4H
	XTN8B
	XTN2S
	XTN2S2
	SQXTN2S
	SQXTN2S2
	UQXTN2S
	UQXTN2S2
	SXTL4S
	UXTL4S
	SXTL8H
	UXTL8H
	SXTL2D
	UXTL2D
	SXTL2D2
	UXTL2D2
	UMULL2D
	UMULL2D2
	UMLAL2D
	UADDLP2D
	REV644S
	UMAXV4S
	UMINV4S
	ZIP14S
	ZIP24S
	UZP14S
	UZP24S
	TRN14S
	TRN24S
	ZIP12D
	ZIP22D
	EXT16B
	SHL4S
	SSHR4S
	USHR4S
	SHL2D
	SSHR2D
	MOVI0
	DUP4SX
	DUP2DX
	DUP4S
	DUP2D
	UMOVS
	UMOVD
	SMOVS
	INSSX
	INSS
	FMOVXS
	FMOVSX
	FMOVXD
	FMOVDX
	FCVTZSX
	FCVTZSXD
	SCVTFX

	FMLA4SLANE
	FMUL4SLANE
	SDOT
	UDOT
	USDOT
	SDOTLANE
	UDOTLANE
	USDOTLANE
	SUDOTLANE
	SMMLA
	UMMLA
	USMMLA
	BFDOT
	BFDOTLANE
	BFMMLA
	BFCVTN4H
	ops
)

var rows = [ops]row{
	RET: {name: "ret", form: formNone, word: 0xD65F03C0},
	NOP: {name: "nop", form: formNone, word: 0xD503201F},
	BR:  {name: "br", form: formX, word: 0xD61F0000, lanes: general("x")},

	ADD:   {name: "add", form: formXXXLsl, word: 0x8B000000, lanes: general("x")},
	SUB:   {name: "sub", form: formXXXLsl, word: 0xCB000000, lanes: general("x")},
	CMP:   {name: "cmp", form: formXX, word: 0xEB00001F, lanes: general("x")},
	AND:   {name: "and", form: formXXX, word: 0x8A000000, lanes: general("x")},
	ORR:   {name: "orr", form: formXXX, word: 0xAA000000, lanes: general("x")},
	EOR:   {name: "eor", form: formXXX, word: 0xCA000000, lanes: general("x")},
	MUL:   {name: "mul", form: formXXX, word: 0x9B007C00, lanes: general("x")},
	SDIV:  {name: "sdiv", form: formXXX, word: 0x9AC00C00, lanes: general("x")},
	UDIV:  {name: "udiv", form: formXXX, word: 0x9AC00800, lanes: general("x")},
	LSLV:  {name: "lsl", form: formXXX, word: 0x9AC02000, lanes: general("x")},
	LSRV:  {name: "lsr", form: formXXX, word: 0x9AC02400, lanes: general("x")},
	ASRV:  {name: "asr", form: formXXX, word: 0x9AC02800, lanes: general("x")},
	MADD:  {name: "madd", form: formXXXX, word: 0x9B000000, lanes: general("x")},
	MSUB:  {name: "msub", form: formXXXX, word: 0x9B008000, lanes: general("x")},
	ADDI:  {name: "add", form: formXXImm, word: 0x91000000, lanes: general("x")},
	SUBI:  {name: "sub", form: formXXImm, word: 0xD1000000, lanes: general("x")},
	CMPI:  {name: "cmp", form: formXImm, word: 0xF100001F, lanes: general("x")},
	CMNI:  {name: "cmn", form: formXImm, word: 0xB100001F, lanes: general("x")},
	MOVZ:  {name: "movz", form: formWide, word: 0xD2800000, lanes: general("x")},
	MOVN:  {name: "movn", form: formWide, word: 0x92800000, lanes: general("x")},
	MOVK:  {name: "movk", form: formWide, word: 0xF2800000, lanes: general("x")},
	LSL:   {name: "lsl", form: formLsl, word: 0xD3400000, lanes: general("x")},
	LSR:   {name: "lsr", form: formShift, word: 0xD340FC00, lanes: general("x")},
	ASR:   {name: "asr", form: formShift, word: 0x9340FC00, lanes: general("x")},
	UBFX:  {name: "ubfx", form: formLow, word: 0xD3400000, lanes: general("x")},
	SXTW:  {name: "sxtw", form: formXtoX, word: 0x93407C00, lanes: byLane("x", "w", "")},
	CSEL:  {name: "csel", form: formSelect, word: 0x9A800000, lanes: general("x")},
	CSNEG: {name: "csneg", form: formSelect, word: 0xDA800400, lanes: general("x")},
	CSET:  {name: "cset", form: formSet, word: 0x9A9F07E0, lanes: general("x")},

	LDRB:   {name: "ldrb", form: formXMem, word: 0x39400000, size: 0, lanes: access("w")},
	LDRSB:  {name: "ldrsb", form: formXMem, word: 0x39800000, size: 0, lanes: access("x")},
	LDRH:   {name: "ldrh", form: formXMem, word: 0x79400000, size: 1, lanes: access("w")},
	LDRSH:  {name: "ldrsh", form: formXMem, word: 0x79800000, size: 1, lanes: access("x")},
	LDRW:   {name: "ldr", form: formXMem, word: 0xB9400000, size: 2, lanes: access("w")},
	LDRSW:  {name: "ldrsw", form: formXMem, word: 0xB9800000, size: 2, lanes: access("x")},
	LDR:    {name: "ldr", form: formXMem, word: 0xF9400000, size: 3, lanes: access("x")},
	STRB:   {name: "strb", form: formXMem, word: 0x39000000, size: 0, lanes: access("w")},
	STRH:   {name: "strh", form: formXMem, word: 0x79000000, size: 1, lanes: access("w")},
	STRW:   {name: "str", form: formXMem, word: 0xB9000000, size: 2, lanes: access("w")},
	STR:    {name: "str", form: formXMem, word: 0xF9000000, size: 3, lanes: access("x")},
	LDRVB:  {name: "ldr", form: formVMem, word: 0x3D400000, size: 0, lanes: access("b")},
	LDRVH:  {name: "ldr", form: formVMem, word: 0x7D400000, size: 1, lanes: access("h")},
	LDRVS:  {name: "ldr", form: formVMem, word: 0xBD400000, size: 2, lanes: access("s")},
	LDRVD:  {name: "ldr", form: formVMem, word: 0xFD400000, size: 3, lanes: access("d")},
	LDRVQ:  {name: "ldr", form: formVMem, word: 0x3DC00000, size: 4, lanes: access("q")},
	STRVB:  {name: "str", form: formVMem, word: 0x3D000000, size: 0, lanes: access("b")},
	STRVH:  {name: "str", form: formVMem, word: 0x7D000000, size: 1, lanes: access("h")},
	STRVS:  {name: "str", form: formVMem, word: 0xBD000000, size: 2, lanes: access("s")},
	STRVD:  {name: "str", form: formVMem, word: 0xFD000000, size: 3, lanes: access("d")},
	STRVQ:  {name: "str", form: formVMem, word: 0x3D800000, size: 4, lanes: access("q")},
	LD1R4S: {name: "ld1r", form: formVBase, word: 0x4D40C800, lanes: same("4s")},
	LD1R2D: {name: "ld1r", form: formVBase, word: 0x4D40CC00, lanes: same("2d")},
	LDRLIT: {name: "ldr", form: formLit, word: 0x9C000000, lanes: access("q")},

	B:     {name: "b", form: formJump, word: 0x14000000},
	BCOND: {name: "b.", form: formJumpIf, word: 0x54000000},
	CBZ:   {name: "cbz", form: formJumpX, word: 0xB4000000, lanes: general("x")},
	CBNZ:  {name: "cbnz", form: formJumpX, word: 0xB5000000, lanes: general("x")},

	FADD4S:   {name: "fadd", form: formVVV, word: 0x4E20D400, lanes: same("4s")},
	FSUB4S:   {name: "fsub", form: formVVV, word: 0x4EA0D400, lanes: same("4s")},
	FMUL4S:   {name: "fmul", form: formVVV, word: 0x6E20DC00, lanes: same("4s")},
	FDIV4S:   {name: "fdiv", form: formVVV, word: 0x6E20FC00, lanes: same("4s")},
	FMAX4S:   {name: "fmax", form: formVVV, word: 0x4E20F400, lanes: same("4s")},
	FMIN4S:   {name: "fmin", form: formVVV, word: 0x4EA0F400, lanes: same("4s")},
	FMAXNM4S: {name: "fmaxnm", form: formVVV, word: 0x4E20C400, lanes: same("4s")},
	FMLA4S:   {name: "fmla", form: formVVV, word: 0x4E20CC00, lanes: same("4s")},
	FMLS4S:   {name: "fmls", form: formVVV, word: 0x4EA0CC00, lanes: same("4s")},
	FCMEQ4S:  {name: "fcmeq", form: formVVV, word: 0x4E20E400, lanes: same("4s")},
	FCMGE4S:  {name: "fcmge", form: formVVV, word: 0x6E20E400, lanes: same("4s")},
	FCMGT4S:  {name: "fcmgt", form: formVVV, word: 0x6EA0E400, lanes: same("4s")},
	FADD2D:   {name: "fadd", form: formVVV, word: 0x4E60D400, lanes: same("2d")},
	FSUB2D:   {name: "fsub", form: formVVV, word: 0x4EE0D400, lanes: same("2d")},
	FMUL2D:   {name: "fmul", form: formVVV, word: 0x6E60DC00, lanes: same("2d")},
	FDIV2D:   {name: "fdiv", form: formVVV, word: 0x6E60FC00, lanes: same("2d")},
	FMAX2D:   {name: "fmax", form: formVVV, word: 0x4E60F400, lanes: same("2d")},
	FMIN2D:   {name: "fmin", form: formVVV, word: 0x4EE0F400, lanes: same("2d")},
	FMLA2D:   {name: "fmla", form: formVVV, word: 0x4E60CC00, lanes: same("2d")},
	FMLS2D:   {name: "fmls", form: formVVV, word: 0x4EE0CC00, lanes: same("2d")},
	FCMEQ2D:  {name: "fcmeq", form: formVVV, word: 0x4E60E400, lanes: same("2d")},
	FCMGT2D:  {name: "fcmgt", form: formVVV, word: 0x6EE0E400, lanes: same("2d")},
	ADD4S:    {name: "add", form: formVVV, word: 0x4EA08400, lanes: same("4s")},
	SUB4S:    {name: "sub", form: formVVV, word: 0x6EA08400, lanes: same("4s")},
	MUL4S:    {name: "mul", form: formVVV, word: 0x4EA09C00, lanes: same("4s")},
	MLA4S:    {name: "mla", form: formVVV, word: 0x4EA09400, lanes: same("4s")},
	SMAX4S:   {name: "smax", form: formVVV, word: 0x4EA06400, lanes: same("4s")},
	SMIN4S:   {name: "smin", form: formVVV, word: 0x4EA06C00, lanes: same("4s")},
	UMAX4S:   {name: "umax", form: formVVV, word: 0x6EA06400, lanes: same("4s")},
	UMIN4S:   {name: "umin", form: formVVV, word: 0x6EA06C00, lanes: same("4s")},
	CMEQ4S:   {name: "cmeq", form: formVVV, word: 0x6EA08C00, lanes: same("4s")},
	CMGT4S:   {name: "cmgt", form: formVVV, word: 0x4EA03400, lanes: same("4s")},
	CMHI4S:   {name: "cmhi", form: formVVV, word: 0x6EA03400, lanes: same("4s")},
	SSHL4S:   {name: "sshl", form: formVVV, word: 0x4EA04400, lanes: same("4s")},
	USHL4S:   {name: "ushl", form: formVVV, word: 0x6EA04400, lanes: same("4s")},
	ADD2D:    {name: "add", form: formVVV, word: 0x4EE08400, lanes: same("2d")},
	SUB2D:    {name: "sub", form: formVVV, word: 0x6EE08400, lanes: same("2d")},
	CMEQ2D:   {name: "cmeq", form: formVVV, word: 0x6EE08C00, lanes: same("2d")},
	CMGT2D:   {name: "cmgt", form: formVVV, word: 0x4EE03400, lanes: same("2d")},
	CMHI2D:   {name: "cmhi", form: formVVV, word: 0x6EE03400, lanes: same("2d")},
	SSHL2D:   {name: "sshl", form: formVVV, word: 0x4EE04400, lanes: same("2d")},
	AND16B:   {name: "and", form: formVVV, word: 0x4E201C00, lanes: same("16b")},
	BIC16B:   {name: "bic", form: formVVV, word: 0x4E601C00, lanes: same("16b")},
	ORR16B:   {name: "orr", form: formVVV, word: 0x4EA01C00, lanes: same("16b")},
	EOR16B:   {name: "eor", form: formVVV, word: 0x6E201C00, lanes: same("16b")},
	BSL16B:   {name: "bsl", form: formVVV, word: 0x6E601C00, lanes: same("16b")},
	BIT16B:   {name: "bit", form: formVVV, word: 0x6EA01C00, lanes: same("16b")},
	BIF16B:   {name: "bif", form: formVVV, word: 0x6EE01C00, lanes: same("16b")},
	FABS4S:   {name: "fabs", form: formVV, word: 0x4EA0F800, lanes: same("4s")},
	FNEG4S:   {name: "fneg", form: formVV, word: 0x6EA0F800, lanes: same("4s")},
	FSQRT4S:  {name: "fsqrt", form: formVV, word: 0x6EA1F800, lanes: same("4s")},
	FRINTN4S: {name: "frintn", form: formVV, word: 0x4E218800, lanes: same("4s")},
	FRINTM4S: {name: "frintm", form: formVV, word: 0x4E219800, lanes: same("4s")},
	FRINTZ4S: {name: "frintz", form: formVV, word: 0x4EA19800, lanes: same("4s")},
	FCVTZS4S: {name: "fcvtzs", form: formVV, word: 0x4EA1B800, lanes: same("4s")},
	FCVTZU4S: {name: "fcvtzu", form: formVV, word: 0x6EA1B800, lanes: same("4s")},
	SCVTF4S:  {name: "scvtf", form: formVV, word: 0x4E21D800, lanes: same("4s")},
	UCVTF4S:  {name: "ucvtf", form: formVV, word: 0x6E21D800, lanes: same("4s")},
	FABS2D:   {name: "fabs", form: formVV, word: 0x4EE0F800, lanes: same("2d")},
	FNEG2D:   {name: "fneg", form: formVV, word: 0x6EE0F800, lanes: same("2d")},
	FSQRT2D:  {name: "fsqrt", form: formVV, word: 0x6EE1F800, lanes: same("2d")},
	FRINTN2D: {name: "frintn", form: formVV, word: 0x4E618800, lanes: same("2d")},
	FRINTM2D: {name: "frintm", form: formVV, word: 0x4E619800, lanes: same("2d")},
	FRINTZ2D: {name: "frintz", form: formVV, word: 0x4EE19800, lanes: same("2d")},
	FCVTZS2D: {name: "fcvtzs", form: formVV, word: 0x4EE1B800, lanes: same("2d")},
	FCVTZU2D: {name: "fcvtzu", form: formVV, word: 0x6EE1B800, lanes: same("2d")},
	SCVTF2D:  {name: "scvtf", form: formVV, word: 0x4E61D800, lanes: same("2d")},
	UCVTF2D:  {name: "ucvtf", form: formVV, word: 0x6E61D800, lanes: same("2d")},
	ABS4S:    {name: "abs", form: formVV, word: 0x4EA0B800, lanes: same("4s")},
	NEG4S:    {name: "neg", form: formVV, word: 0x6EA0B800, lanes: same("4s")},
	ABS2D:    {name: "abs", form: formVV, word: 0x4EE0B800, lanes: same("2d")},
	NEG2D:    {name: "neg", form: formVV, word: 0x6EE0B800, lanes: same("2d")},
	NOT16B:   {name: "mvn", form: formVV, word: 0x6E205800, lanes: same("16b")},
	FCVTL4S:  {name: "fcvtl", form: formVV, word: 0x0E217800, lanes: lanes("4s", "4h")},
	FCVTN4H:  {name: "fcvtn", form: formVV, word: 0x0E216800, lanes: lanes("4h", "4s")},
	FCVTL2D:  {name: "fcvtl", form: formVV, word: 0x0E617800, lanes: lanes("2d", "2s")},
	FCVTL2D2: {name: "fcvtl2", form: formVV, word: 0x4E617800, lanes: lanes("2d", "4s")},
	FCVTN2S:  {name: "fcvtn", form: formVV, word: 0x0E616800, lanes: lanes("2s", "2d")},
	FCVTN2S2: {name: "fcvtn2", form: formVV, word: 0x4E616800, lanes: lanes("4s", "2d")},
	XTN4H:    {name: "xtn", form: formVV, word: 0x0E612800, lanes: lanes("4h", "4s")},
	XTN8B:    {name: "xtn", form: formVV, word: 0x0E212800, lanes: lanes("8b", "8h")},
	XTN2S:    {name: "xtn", form: formVV, word: 0x0EA12800, lanes: lanes("2s", "2d")},
	XTN2S2:   {name: "xtn2", form: formVV, word: 0x4EA12800, lanes: lanes("4s", "2d")},
	SQXTN2S:  {name: "sqxtn", form: formVV, word: 0x0EA14800, lanes: lanes("2s", "2d")},
	SQXTN2S2: {name: "sqxtn2", form: formVV, word: 0x4EA14800, lanes: lanes("4s", "2d")},
	UQXTN2S:  {name: "uqxtn", form: formVV, word: 0x2EA14800, lanes: lanes("2s", "2d")},
	UQXTN2S2: {name: "uqxtn2", form: formVV, word: 0x6EA14800, lanes: lanes("4s", "2d")},
	SXTL4S:   {name: "sshll", form: formVShl, word: 0x0F00A400, size: 1, lanes: lanes("4s", "4h")},
	UXTL4S:   {name: "ushll", form: formVShl, word: 0x2F00A400, size: 1, lanes: lanes("4s", "4h")},
	SXTL8H:   {name: "sshll", form: formVShl, word: 0x0F00A400, size: 0, lanes: lanes("8h", "8b")},
	UXTL8H:   {name: "ushll", form: formVShl, word: 0x2F00A400, size: 0, lanes: lanes("8h", "8b")},
	SXTL2D:   {name: "sshll", form: formVShl, word: 0x0F00A400, size: 2, lanes: lanes("2d", "2s")},
	UXTL2D:   {name: "ushll", form: formVShl, word: 0x2F00A400, size: 2, lanes: lanes("2d", "2s")},
	SXTL2D2:  {name: "sshll2", form: formVShl, word: 0x4F00A400, size: 2, lanes: lanes("2d", "4s")},
	UXTL2D2:  {name: "ushll2", form: formVShl, word: 0x6F00A400, size: 2, lanes: lanes("2d", "4s")},
	UMULL2D:  {name: "umull", form: formVVV, word: 0x2EA0C000, lanes: lanes("2d", "2s")},
	UMULL2D2: {name: "umull2", form: formVVV, word: 0x6EA0C000, lanes: lanes("2d", "4s")},
	UMLAL2D:  {name: "umlal", form: formVVV, word: 0x2EA08000, lanes: lanes("2d", "2s")},
	UADDLP2D: {name: "uaddlp", form: formVV, word: 0x6EA02800, lanes: lanes("2d", "4s")},
	REV644S:  {name: "rev64", form: formVV, word: 0x4EA00800, lanes: same("4s")},
	UMAXV4S:  {name: "umaxv", form: formVV, word: 0x6EB0A800, lanes: lanes("s", "4s")},
	UMINV4S:  {name: "uminv", form: formVV, word: 0x6EB1A800, lanes: lanes("s", "4s")},
	ZIP14S:   {name: "zip1", form: formVVV, word: 0x4E803800, lanes: same("4s")},
	ZIP24S:   {name: "zip2", form: formVVV, word: 0x4E807800, lanes: same("4s")},
	UZP14S:   {name: "uzp1", form: formVVV, word: 0x4E801800, lanes: same("4s")},
	UZP24S:   {name: "uzp2", form: formVVV, word: 0x4E805800, lanes: same("4s")},
	TRN14S:   {name: "trn1", form: formVVV, word: 0x4E802800, lanes: same("4s")},
	TRN24S:   {name: "trn2", form: formVVV, word: 0x4E806800, lanes: same("4s")},
	ZIP12D:   {name: "zip1", form: formVVV, word: 0x4EC03800, lanes: same("2d")},
	ZIP22D:   {name: "zip2", form: formVVV, word: 0x4EC07800, lanes: same("2d")},
	EXT16B:   {name: "ext", form: formVVExt, word: 0x6E000000, lanes: same("16b")},
	SHL4S:    {name: "shl", form: formVShl, word: 0x4F005400, size: 2, lanes: same("4s")},
	SSHR4S:   {name: "sshr", form: formVShr, word: 0x4F000400, size: 2, lanes: same("4s")},
	USHR4S:   {name: "ushr", form: formVShr, word: 0x6F000400, size: 2, lanes: same("4s")},
	SHL2D:    {name: "shl", form: formVShl, word: 0x4F005400, size: 3, lanes: same("2d")},
	SSHR2D:   {name: "sshr", form: formVShr, word: 0x4F000400, size: 3, lanes: same("2d")},
	MOVI0:    {name: "movi", form: formV, word: 0x6F00E400, lanes: same("2d")},
	DUP4SX:   {name: "dup", form: formVX, word: 0x4E040C00, lanes: lanes("4s", "w")},
	DUP2DX:   {name: "dup", form: formVX, word: 0x4E080C00, lanes: lanes("2d", "x")},
	DUP4S:    {name: "dup", form: formVLane, word: 0x4E000400, size: 2, lanes: lanes("4s", "s")},
	DUP2D:    {name: "dup", form: formVLane, word: 0x4E000400, size: 3, lanes: lanes("2d", "d")},
	UMOVS:    {name: "mov", form: formXLane, word: 0x0E003C00, size: 2, lanes: lanes("w", "s")},
	UMOVD:    {name: "mov", form: formXLane, word: 0x4E003C00, size: 3, lanes: lanes("x", "d")},
	SMOVS:    {name: "smov", form: formXLane, word: 0x4E002C00, size: 2, lanes: lanes("x", "s")},
	INSSX:    {name: "mov", form: formLaneX, word: 0x4E001C00, size: 2, lanes: lanes("s", "w")},
	INSS:     {name: "mov", form: formLaneLane, word: 0x6E000400, size: 2, lanes: lanes("s", "s")},
	FMOVXS:   {name: "fmov", form: formXV, word: 0x1E260000, lanes: lanes("w", "s")},
	FMOVSX:   {name: "fmov", form: formVX, word: 0x1E270000, lanes: lanes("s", "w")},
	FMOVXD:   {name: "fmov", form: formXV, word: 0x9E660000, lanes: lanes("x", "d")},
	FMOVDX:   {name: "fmov", form: formVX, word: 0x9E670000, lanes: lanes("d", "x")},
	FCVTZSX:  {name: "fcvtzs", form: formXV, word: 0x9E380000, lanes: lanes("x", "s")},
	FCVTZSXD: {name: "fcvtzs", form: formXV, word: 0x9E780000, lanes: lanes("x", "d")},
	SCVTFX:   {name: "scvtf", form: formVX, word: 0x9E220000, lanes: lanes("s", "x")},

	FMLA4SLANE: {name: "fmla", form: formVVVLane, word: 0x4F801000, lanes: byLane("4s", "4s", "s")},
	FMUL4SLANE: {name: "fmul", form: formVVVLane, word: 0x4F809000, lanes: byLane("4s", "4s", "s")},
	SDOT:       {name: "sdot", form: formVVV, word: 0x4E809400, lanes: lanes("4s", "16b")},
	UDOT:       {name: "udot", form: formVVV, word: 0x6E809400, lanes: lanes("4s", "16b")},
	USDOT:      {name: "usdot", form: formVVV, word: 0x4E809C00, lanes: lanes("4s", "16b")},
	SDOTLANE:   {name: "sdot", form: formVVVLane, word: 0x4F80E000, lanes: byLane("4s", "16b", "4b")},
	UDOTLANE:   {name: "udot", form: formVVVLane, word: 0x6F80E000, lanes: byLane("4s", "16b", "4b")},
	USDOTLANE:  {name: "usdot", form: formVVVLane, word: 0x4F80F000, lanes: byLane("4s", "16b", "4b")},
	SUDOTLANE:  {name: "sudot", form: formVVVLane, word: 0x4F00F000, lanes: byLane("4s", "16b", "4b")},
	SMMLA:      {name: "smmla", form: formVVV, word: 0x4E80A400, lanes: lanes("4s", "16b")},
	UMMLA:      {name: "ummla", form: formVVV, word: 0x6E80A400, lanes: lanes("4s", "16b")},
	USMMLA:     {name: "usmmla", form: formVVV, word: 0x4E80AC00, lanes: lanes("4s", "16b")},
	BFDOT:      {name: "bfdot", form: formVVV, word: 0x6E40FC00, lanes: lanes("4s", "8h")},
	BFDOTLANE:  {name: "bfdot", form: formVVVLane, word: 0x4F40F000, lanes: byLane("4s", "8h", "2h")},
	BFMMLA:     {name: "bfmmla", form: formVVV, word: 0x6E40EC00, lanes: lanes("4s", "8h")},
	BFCVTN4H:   {name: "bfcvtn", form: formVV, word: 0x0EA16800, lanes: lanes("4h", "4s")},
}
