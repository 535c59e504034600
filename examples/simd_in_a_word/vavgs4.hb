; `__vavgs4` of CUDA: average of two signed bytes,
; rounded to nearest; ties are rounded away from zero.
kernel vavgs4(a: in i8x4, b: in i8x4, result: out i8x4) {
  let i = item_id()
  result[i] = avg_s(a[i], b[i])
}

; run: halu, vp1, ptx: @vavgs4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x7f5a0100, 0xfffe8180, 0xff6d2e01, 0xfffebf80, 0x00ed402d, 0x00ffc0bf, 0x3fedc040, 0x2dffc0bf, 0x3f2cc1c0, 0x3f2cc1c0, 0x402dffc0, 0xbf3fedc0, 0x402d00ff, 0xc0bf00ed, 0x6d2e01ff, 0xfebf80ff]
; run: halu, vp1, ptx: @vavgs4 items=1001 a=random(1001, 171) b=random(1001, 172) result=zeros(1001)
