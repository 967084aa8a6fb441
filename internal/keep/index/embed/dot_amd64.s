#include "textflag.h"

// func dotAVX2(a, b string) int32
TEXT ·dotAVX2(SB), NOSPLIT, $0-36
	MOVQ a_base+0(FP), SI
	MOVQ a_len+8(FP), CX
	MOVQ b_base+16(FP), DI
	VPXOR X0, X0, X0 // eight sums
	TESTQ CX, CX
	JZ sum

sixteen:
	VPMOVSXBW (SI), Y1
	VPMOVSXBW (DI), Y2
	VPMADDWD Y1, Y2, Y1 // each sum gets two products
	VPADDD Y1, Y0, Y0
	ADDQ $16, SI
	ADDQ $16, DI
	SUBQ $16, CX
	JNZ sixteen

sum: // the eight become four, two, one
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPADDD X1, X0, X0
	VMOVD X0, AX
	MOVL AX, ret+32(FP)
	VZEROUPPER
	RET
