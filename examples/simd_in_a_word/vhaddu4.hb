; `__vhaddu4` of CUDA: average of two unsigned bytes, rounded
; down: the average rounded up, minus 1 if the sum is odd.
kernel vhaddu4(a: in i8x4, b: in i8x4, result: out i8x4) {
  let i = item_id()
  let (x, y) = (a[i], b[i])
  result[i] = avg_u(x, y) - ((x ^ y) & 1)
}

; run: halu, vp1, ptx: @vhaddu4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x7f5a0100, 0xfffe8180, 0x7f6c2d00, 0x7ffebf80, 0x806d402d, 0x807fc0bf, 0xbe6d403f, 0xac7f40bf, 0xbfac4140, 0xbfac4140, 0x3fac7f40, 0xbfbe6d40, 0x402d807f, 0xc0bf806d, 0x6c2d007f, 0xfebf807f]
; run: halu, vp1, ptx: @vhaddu4 items=1001 a=random(1001, 291) b=random(1001, 292) result=zeros(1001)
