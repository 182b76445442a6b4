#include "textflag.h"

// IC IVAU, Rt in the general form of SYS: op1 3, C7, C5, op2 1.
#define IC_IVAU $0x37520

// func cleanToPoU(start, end uintptr)
//
// Steps by 16 bytes, the smallest line the architecture allows, instead of
// reading the line size from CTR_EL0, which not every system lets us read.
TEXT ·cleanToPoU(SB), NOSPLIT, $0-16
	MOVD start+0(FP), R0
	MOVD end+8(FP), R1
	MOVD R0, R2
clean:
	DC   CVAU, R2
	ADD  $16, R2
	CMP  R1, R2
	BLO  clean
	DSB  $0xb // inner shareable
	MOVD R0, R2
invalidate:
	SYS  IC_IVAU, R2
	ADD  $16, R2
	CMP  R1, R2
	BLO  invalidate
	DSB  $0xb
	ISB  $0xf
	RET
