# What TestProgram builds. program.hex comes from it:
#   llvm-mc -triple=x86_64 -mattr=+avx512f -filetype=obj program.s -o p.o
#   llvm-objcopy -O binary -j .text p.o p.bin && xxd -p -c 32 p.bin > program.hex
.intel_syntax noprefix
top:
  vmovups zmm0, zmmword ptr [rip + vec]
  vaddps zmm0, zmm0, dword ptr [rip + one]{1to16}
  vpshufd zmm1, zmmword ptr [rip + vec], 27
  cmp qword ptr [rip + eight], 1000
  lea rax, [rip + vec + 8]
  test rcx, rcx
  je out
  jb out
  jmp top
  # the padding of Align: three no-operations of 9 bytes and one of 3
  .rept 3
  .byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
  .endr
  .byte 0x0f, 0x1f, 0
back:
  vmulpd zmm2, zmm2, qword ptr [rip + eight]{1to8}
  vmulss xmm2, xmm2, dword ptr [rip + one]
  .rept 40
  vaddps zmm1, zmm1, zmm2
  .endr
  jne back
  jmp back
  jmp near
  jbe near
near:
  ret
out:
  ret
.balign 64, 0xcc
vec: .long 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
eight: .quad 0x4020000000000000
one: .long 0x3f800000
