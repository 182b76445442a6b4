mov rax, qword ptr [rdi]
mov qword ptr [rdi + 400], rax
mov rax, qword ptr [rdi + 16]
mov qword ptr [rdi + 408], rax
mov rax, qword ptr [rdi + 96]
mov qword ptr [rdi + 416], rax
mov rax, qword ptr [rdi + 112]
mov qword ptr [rdi + 424], rax
mov rax, qword ptr [rdi + 136]
mov qword ptr [rdi + 432], rax
mov rax, qword ptr [rdi + 256]
mov qword ptr [rdi + 328], rax
L1:
mov rax, qword ptr [rdi + 8]
mov qword ptr [rdi + 360], rax
mov rax, qword ptr [rdi + 408]
mov qword ptr [rdi + 368], rax
mov rax, qword ptr [rdi + 416]
mov qword ptr [rdi + 376], rax
mov rax, qword ptr [rdi + 424]
mov qword ptr [rdi + 384], rax
mov rax, qword ptr [rdi + 64]
mov qword ptr [rdi + 392], rax
mov rax, qword ptr [rdi + 264]
mov qword ptr [rdi + 336], rax
L2:
vpxor xmm0, xmm0, xmm0
vpxor xmm1, xmm1, xmm1
vpxor xmm2, xmm2, xmm2
vpxor xmm3, xmm3, xmm3
cmp qword ptr [rdi + 120], 0
je L3
mov r15, qword ptr [rdi + 384]
mov rcx, qword ptr [rdi + 120]
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add r15, rcx
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add qword ptr [rdi + 384], 128
L3:
cmp qword ptr [rdi + 104], 0
je L4
mov r15, qword ptr [rdi + 376]
mov rcx, qword ptr [rdi + 104]
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add r15, rcx
prefetchw byte ptr [r15]
prefetchw byte ptr [r15 + 64]
add qword ptr [rdi + 376], 128
L4:
mov r8, qword ptr [rdi + 24]
mov r9, qword ptr [rdi + 40]
mov rbx, qword ptr [rdi + 48]
lea rsi, [rbx + 2*rbx]
kmovw k1, word ptr [rdi + 208]
mov rdx, qword ptr [rdi + 360]
mov rax, qword ptr [rdi + 56]
add qword ptr [rdi + 360], rax
mov r10, qword ptr [rdi + 400]
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
mov r15, qword ptr [rdi + 368]
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
mov r15, qword ptr [rdi + 368]
mov rcx, qword ptr [rdi + 32]
vmovups zmmword ptr [r15], zmm0
vmovups zmmword ptr [r15 + 64] {k1}, zmm1
add r15, rcx
vmovups zmmword ptr [r15], zmm2
vmovups zmmword ptr [r15 + 64] {k1}, zmm3
cmp qword ptr [rdi + 240], 0
je L10
mov rax, qword ptr [rdi + 248]
mov rcx, qword ptr [rdi + 336]
mov rdx, qword ptr [rdi + 296]
mov qword ptr [rax + rdx], rcx
add rcx, qword ptr [rdi + 272]
mov qword ptr [rdi + 336], rcx
mov rdx, qword ptr [rdi + 304]
mov qword ptr [rax + rdx], rcx
mov rcx, qword ptr [rdi + 368]
mov rdx, qword ptr [rdi + 312]
mov qword ptr [rax + rdx], rcx
mov rcx, qword ptr [rdi + 328]
mov rdx, qword ptr [rdi + 288]
mov qword ptr [rax + rdx], rcx
mov qword ptr [rax], rcx
add rcx, 2
mov qword ptr [rax + 8], rcx
lea rcx, [rip + L11]
mov qword ptr [rdi + 320], rcx
mov rcx, qword ptr [rdi + 240]
mov rdi, rax
jmp rcx
L11:
L10:
mov rax, qword ptr [rdi + 152]
add qword ptr [rdi + 368], rax
sub qword ptr [rdi + 392], 1
jne L2
mov rax, qword ptr [rdi + 24]
imul rax, rax, 2
add qword ptr [rdi + 400], rax
mov rax, qword ptr [rdi + 104]
imul rax, rax, 2
add qword ptr [rdi + 416], rax
mov rax, qword ptr [rdi + 120]
imul rax, rax, 2
add qword ptr [rdi + 424], rax
mov rax, qword ptr [rdi + 160]
add qword ptr [rdi + 408], rax
add qword ptr [rdi + 328], 2
sub qword ptr [rdi + 432], 1
jne L1
vzeroupper
ret
