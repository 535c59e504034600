; `__vavgu4` of CUDA: the average of two bytes as unsigned numbers, rounded up.
kernel @vavgu4(%a: in i8x4, %b: in i8x4, %result: out i8x4) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %r = avg_u.i8x4 %x, %y
  store %r, %result[%i]
  ret
}

; run: halu, vp1, ptx: @vavgu4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x7f5a0100, 0xfffe8180, 0x806d2e01, 0x80ffc081, 0x806d402d, 0x807fc0bf, 0xbf6e4140, 0xad8041c0, 0xbfac4140, 0xbfac4140, 0x40ad8041, 0xc0bf6e41, 0x402d807f, 0xc0bf806d, 0x6d2e0180, 0xffc08180]
; run: halu, vp1, ptx: @vavgu4 items=1001 a=random(1001, 191) b=random(1001, 192) result=zeros(1001)
