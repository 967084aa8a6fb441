#include "textflag.h"

// bitsOf has how many bits are set in each number of 4 bits, once for each half of a register.
DATA bitsOf<>+0(SB)/8, $0x0302020102010100
DATA bitsOf<>+8(SB)/8, $0x0403030203020201
DATA bitsOf<>+16(SB)/8, $0x0302020102010100
DATA bitsOf<>+24(SB)/8, $0x0403030203020201
GLOBL bitsOf<>(SB), RODATA|NOPTR, $32

DATA lowHalves<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowHalves<>(SB), RODATA|NOPTR, $8

// func markWithinAVX2(marks, codes []uint64, code0, code1, limit uint64)
//
// A register has two codes. The set bits of each half of a byte are looked up in bitsOf (Muła,
// Kurz, Lemire, "Faster Population Counts Using AVX2 Instructions", The Computer Journal 2018).
TEXT ·markWithinAVX2(SB), NOSPLIT, $0-72
	MOVQ marks_base+0(FP), DI
	MOVQ marks_len+8(FP), CX
	MOVQ codes_base+24(FP), SI
	VBROADCASTI128 code0+48(FP), Y0 // and code1, which follows it
	VPBROADCASTQ lowHalves<>(SB), Y1
	VMOVDQU bitsOf<>(SB), Y2
	VPXOR Y3, Y3, Y3
	VPBROADCASTQ limit+64(FP), Y4
	TESTQ CX, CX
	JZ done

mark: // the next 64 codes
	MOVQ $16, R8

four: // codes 0 and 1 in Y5, 2 and 3 in Y6
	VPXOR (SI), Y0, Y5
	VPXOR 32(SI), Y0, Y6
	VPAND Y1, Y5, Y7
	VPAND Y1, Y6, Y8
	VPSRLW $4, Y5, Y5
	VPSRLW $4, Y6, Y6
	VPAND Y1, Y5, Y5
	VPAND Y1, Y6, Y6
	VPSHUFB Y7, Y2, Y7
	VPSHUFB Y8, Y2, Y8
	VPSHUFB Y5, Y2, Y5
	VPSHUFB Y6, Y2, Y6
	VPADDB Y5, Y7, Y5 // the set bits of each byte
	VPADDB Y6, Y8, Y6

	// The first words of the four codes, and the second: their sums are the distances.
	VPUNPCKLQDQ Y6, Y5, Y7
	VPUNPCKHQDQ Y6, Y5, Y8
	VPADDB Y7, Y8, Y7
	VPSADBW Y3, Y7, Y7
	VPERMQ $0xd8, Y7, Y7 // from the order 0, 2, 1, 3 to that of the codes
	VPCMPGTQ Y7, Y4, Y7
	VMOVMSKPD Y7, AX

	// The bits of the first four codes end lowest.
	SHRQ $4, DX
	SHLQ $60, AX
	ORQ AX, DX
	ADDQ $64, SI
	DECQ R8
	JNZ four

	MOVQ DX, (DI)
	ADDQ $8, DI
	DECQ CX
	JNZ mark

done:
	VZEROUPPER
	RET
