#include "textflag.h"
#include "funcdata.h"

// func Call(entry uintptr, args unsafe.Pointer)
//
// Not NOSPLIT: see call_amd64.s. The code must keep R28, which holds g.
TEXT ·Call(SB), 0, $64-16
	NO_LOCAL_POINTERS
	MOVD entry+0(FP), R9
	MOVD args+8(FP), R0
	CALL (R9)
	RET

// func pause(n uint32)
TEXT ·pause(SB), NOSPLIT, $0-4
	MOVWU n+0(FP), R0
	CBZ   R0, done
again:
	YIELD
	SUBW  $1, R0
	CBNZ  R0, again
done:
	RET
