mov rax, qword ptr [rdi + 216]
mov qword ptr [rdi + 528], rax
mov rax, qword ptr [rdi]
mov qword ptr [rdi + 464], rax
mov rax, qword ptr [rdi + 16]
mov qword ptr [rdi + 472], rax
mov rax, qword ptr [rdi + 96]
mov qword ptr [rdi + 480], rax
mov rax, qword ptr [rdi + 112]
mov qword ptr [rdi + 488], rax
mov rax, qword ptr [rdi + 136]
mov qword ptr [rdi + 496], rax
mov rax, qword ptr [rdi + 320]
mov qword ptr [rdi + 392], rax
L1:
mov rax, qword ptr [rdi + 8]
mov qword ptr [rdi + 424], rax
mov rax, qword ptr [rdi + 472]
mov qword ptr [rdi + 432], rax
mov rax, qword ptr [rdi + 480]
mov qword ptr [rdi + 440], rax
mov rax, qword ptr [rdi + 488]
mov qword ptr [rdi + 448], rax
mov rax, qword ptr [rdi + 64]
mov qword ptr [rdi + 456], rax
mov rax, qword ptr [rdi + 328]
mov qword ptr [rdi + 400], rax
mov rax, qword ptr [rdi + 208]
mov qword ptr [rdi + 520], rax
L2:
vpxor xmm0, xmm0, xmm0
vpxor xmm1, xmm1, xmm1
vpxor xmm2, xmm2, xmm2
vpxor xmm3, xmm3, xmm3
cmp qword ptr [rdi + 120], 0
je L3
mov r15, qword ptr [rdi + 448]
mov rcx, qword ptr [rdi + 120]
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add r15, rcx
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add qword ptr [rdi + 448], 128
L3:
cmp qword ptr [rdi + 104], 0
je L4
mov r15, qword ptr [rdi + 440]
mov rcx, qword ptr [rdi + 104]
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add r15, rcx
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add qword ptr [rdi + 440], 128
L4:
mov r8, qword ptr [rdi + 24]
mov r9, qword ptr [rdi + 40]
mov rbx, qword ptr [rdi + 48]
lea rsi, [rbx + 2*rbx]
kmovw k1, word ptr [rdi + 268]
mov rdx, qword ptr [rdi + 424]
mov rax, qword ptr [rdi + 56]
add qword ptr [rdi + 424], rax
mov r10, qword ptr [rdi + 464]
mov rax, qword ptr [rdi + 72]
test rax, rax
je L5
.balign 32
L6:
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
jne L6
L5:
mov rax, qword ptr [rdi + 80]
test rax, rax
je L7
.balign 32
L8:
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
jne L8
L7:
cmp qword ptr [rdi + 88], 0
je L9
mov r15, qword ptr [rdi + 432]
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
L9:
cmp qword ptr [rdi + 208], 0
je L10
mov r15, qword ptr [rdi + 520]
vmovups zmm4, zmmword ptr [r15]
vmovups zmm5 {k1} {z}, zmmword ptr [r15 + 64]
vaddps zmm0, zmm0, zmm4
vaddps zmm1, zmm1, zmm5
vaddps zmm2, zmm2, zmm4
vaddps zmm3, zmm3, zmm5
add qword ptr [rdi + 520], 128
L10:
cmp qword ptr [rdi + 216], 0
je L11
mov r15, qword ptr [rdi + 528]
mov rcx, qword ptr [rdi + 224]
vbroadcastss zmm4, dword ptr [r15]
vaddps zmm0, zmm0, zmm4
vaddps zmm1, zmm1, zmm4
add r15, rcx
vbroadcastss zmm4, dword ptr [r15]
vaddps zmm2, zmm2, zmm4
vaddps zmm3, zmm3, zmm4
L11:
cmp qword ptr [rdi + 232], 0
je L12
vbroadcastss zmm6, dword ptr [rdi + 264]
mov r15, qword ptr [rdi + 448]
mov rcx, qword ptr [rdi + 120]
vfmadd213ps zmm0, zmm6, zmmword ptr [r15 - 128]
vmovups zmm5 {k1} {z}, zmmword ptr [r15 - 64]
vfmadd213ps zmm1, zmm6, zmm5
add r15, rcx
vfmadd213ps zmm2, zmm6, zmmword ptr [r15 - 128]
vmovups zmm5 {k1} {z}, zmmword ptr [r15 - 64]
vfmadd213ps zmm3, zmm6, zmm5
L12:
cmp qword ptr [rdi + 240], 0
je L13
vpxor xmm4, xmm4, xmm4
vmaxps zmm0, zmm4, zmm0
vmaxps zmm1, zmm4, zmm1
vmaxps zmm2, zmm4, zmm2
vmaxps zmm3, zmm4, zmm3
L13:
mov r15, qword ptr [rdi + 432]
mov rcx, qword ptr [rdi + 32]
vmovups zmmword ptr [r15], zmm0
vmovups zmmword ptr [r15 + 64] {k1}, zmm1
add r15, rcx
vmovups zmmword ptr [r15], zmm2
vmovups zmmword ptr [r15 + 64] {k1}, zmm3
cmp qword ptr [rdi + 304], 0
je L14
mov rax, qword ptr [rdi + 312]
mov rcx, qword ptr [rdi + 400]
mov rdx, qword ptr [rdi + 360]
mov qword ptr [rax + rdx], rcx
add rcx, qword ptr [rdi + 336]
mov qword ptr [rdi + 400], rcx
mov rdx, qword ptr [rdi + 368]
mov qword ptr [rax + rdx], rcx
mov rcx, qword ptr [rdi + 432]
mov rdx, qword ptr [rdi + 376]
mov qword ptr [rax + rdx], rcx
mov rcx, qword ptr [rdi + 392]
mov rdx, qword ptr [rdi + 352]
mov qword ptr [rax + rdx], rcx
mov qword ptr [rax], rcx
add rcx, 2
mov qword ptr [rax + 8], rcx
lea rcx, [rip + L15]
mov qword ptr [rdi + 384], rcx
mov rcx, qword ptr [rdi + 304]
mov rdi, rax
jmp rcx
L15:
L14:
mov rax, qword ptr [rdi + 152]
add qword ptr [rdi + 432], rax
sub qword ptr [rdi + 456], 1
jne L2
mov rax, qword ptr [rdi + 24]
imul rax, rax, 2
add qword ptr [rdi + 464], rax
mov rax, qword ptr [rdi + 104]
imul rax, rax, 2
add qword ptr [rdi + 480], rax
mov rax, qword ptr [rdi + 120]
imul rax, rax, 2
add qword ptr [rdi + 488], rax
mov rax, qword ptr [rdi + 224]
imul rax, rax, 2
add qword ptr [rdi + 528], rax
mov rax, qword ptr [rdi + 160]
add qword ptr [rdi + 472], rax
add qword ptr [rdi + 392], 2
sub qword ptr [rdi + 496], 1
jne L1
vzeroupper
ret
