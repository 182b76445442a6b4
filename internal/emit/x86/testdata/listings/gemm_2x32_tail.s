mov r8, qword ptr [rdi + 24]
mov r9, qword ptr [rdi + 40]
mov rbx, qword ptr [rdi + 48]
lea rsi, [rbx + 2*rbx]
mov rax, qword ptr [rdi + 8]
mov qword ptr [rdi + 168], rax
mov rax, qword ptr [rdi + 16]
mov qword ptr [rdi + 176], rax
mov rax, qword ptr [rdi + 96]
mov qword ptr [rdi + 184], rax
mov rax, qword ptr [rdi + 112]
mov qword ptr [rdi + 192], rax
mov rax, qword ptr [rdi + 64]
mov qword ptr [rdi + 200], rax
kmovw k1, word ptr [rdi + 136]
L1:
vpxor xmm0, xmm0, xmm0
vpxor xmm1, xmm1, xmm1
vpxor xmm2, xmm2, xmm2
vpxor xmm3, xmm3, xmm3
cmp qword ptr [rdi + 120], 0
je L2
mov r15, qword ptr [rdi + 192]
mov rcx, qword ptr [rdi + 120]
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add r15, rcx
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add qword ptr [rdi + 192], 128
L2:
cmp qword ptr [rdi + 104], 0
je L3
mov r15, qword ptr [rdi + 184]
mov rcx, qword ptr [rdi + 104]
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add r15, rcx
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add qword ptr [rdi + 184], 128
L3:
mov rdx, qword ptr [rdi + 168]
mov rax, qword ptr [rdi + 56]
add qword ptr [rdi + 168], rax
mov r10, qword ptr [rdi]
mov rax, qword ptr [rdi + 72]
test rax, rax
je L4
.balign 32
L5:
vmovups zmm4, zmmword ptr [rdx]
vmovups zmm5 {k1} {z}, zmmword ptr [rdx + rbx]
add rdx, r9
vbroadcastss zmm6, dword ptr [r10]
vfmadd231ps zmm0, zmm6, zmm4
vfmadd231ps zmm1, zmm6, zmm5
vbroadcastss zmm7, dword ptr [r10 + r8]
vfmadd231ps zmm2, zmm7, zmm4
vfmadd231ps zmm3, zmm7, zmm5
vmovups zmm4, zmmword ptr [rdx]
vmovups zmm5 {k1} {z}, zmmword ptr [rdx + rbx]
add rdx, r9
vbroadcastss zmm6, dword ptr [r10 + 4]
vfmadd231ps zmm0, zmm6, zmm4
vfmadd231ps zmm1, zmm6, zmm5
vbroadcastss zmm7, dword ptr [r10 + r8 + 4]
vfmadd231ps zmm2, zmm7, zmm4
vfmadd231ps zmm3, zmm7, zmm5
vmovups zmm4, zmmword ptr [rdx]
vmovups zmm5 {k1} {z}, zmmword ptr [rdx + rbx]
add rdx, r9
vbroadcastss zmm6, dword ptr [r10 + 8]
vfmadd231ps zmm0, zmm6, zmm4
vfmadd231ps zmm1, zmm6, zmm5
vbroadcastss zmm7, dword ptr [r10 + r8 + 8]
vfmadd231ps zmm2, zmm7, zmm4
vfmadd231ps zmm3, zmm7, zmm5
vmovups zmm4, zmmword ptr [rdx]
vmovups zmm5 {k1} {z}, zmmword ptr [rdx + rbx]
add rdx, r9
vbroadcastss zmm6, dword ptr [r10 + 12]
vfmadd231ps zmm0, zmm6, zmm4
vfmadd231ps zmm1, zmm6, zmm5
vbroadcastss zmm7, dword ptr [r10 + r8 + 12]
vfmadd231ps zmm2, zmm7, zmm4
vfmadd231ps zmm3, zmm7, zmm5
add r10, 16
sub rax, 1
jne L5
L4:
mov rax, qword ptr [rdi + 80]
test rax, rax
je L6
.balign 32
L7:
vmovups zmm4, zmmword ptr [rdx]
vmovups zmm5 {k1} {z}, zmmword ptr [rdx + rbx]
add rdx, r9
vbroadcastss zmm6, dword ptr [r10]
vfmadd231ps zmm0, zmm6, zmm4
vfmadd231ps zmm1, zmm6, zmm5
vbroadcastss zmm7, dword ptr [r10 + r8]
vfmadd231ps zmm2, zmm7, zmm4
vfmadd231ps zmm3, zmm7, zmm5
add r10, 4
sub rax, 1
jne L7
L6:
cmp qword ptr [rdi + 88], 0
je L8
mov r15, qword ptr [rdi + 176]
mov rcx, qword ptr [rdi + 32]
vmovups zmm4, zmmword ptr [r15]
vaddps zmm0, zmm4, zmm0
vmovups zmm5 {k1} {z}, zmmword ptr [r15 + 64]
vaddps zmm1, zmm5, zmm1
add r15, rcx
vmovups zmm4, zmmword ptr [r15]
vaddps zmm2, zmm4, zmm2
vmovups zmm5 {k1} {z}, zmmword ptr [r15 + 64]
vaddps zmm3, zmm5, zmm3
L8:
mov r15, qword ptr [rdi + 176]
mov rcx, qword ptr [rdi + 32]
vmovups zmmword ptr [r15], zmm0
vmovups zmmword ptr [r15 + 64] {k1}, zmm1
add r15, rcx
vmovups zmmword ptr [r15], zmm2
vmovups zmmword ptr [r15 + 64] {k1}, zmm3
add qword ptr [rdi + 176], 128
sub qword ptr [rdi + 200], 1
jne L1
vzeroupper
ret
