// TRAMPOLINE is the name of the trampoline, defined by the file that includes this one.
#include "textflag.h"
#include "funcdata.h"

// func TRAMPOLINE(entry uintptr, args unsafe.Pointer)
//
// Not NOSPLIT, on purpose: the stack check in the prologue is the cooperative
// preemption point. Machine code is no asynchronous safe point, so a loop of
// calls through a NOSPLIT trampoline could hold up a stop-the-world for seconds.
//
// The frame gives the prologue a reason to exist and makes the assembler save
// BP. Being ABI0, the compiler restores R14 and X15 after the call.
TEXT TRAMPOLINE(SB), 0, $64-16
	NO_LOCAL_POINTERS
	MOVQ entry+0(FP), AX
	MOVQ args+8(FP), DI
	CALL AX
	RET

// func pause(n uint32)
TEXT ·pause(SB), NOSPLIT, $0-4
	MOVL n+0(FP), CX
	TESTL CX, CX
	JZ   done
again:
	PAUSE
	DECL CX
	JNZ  again
done:
	RET
