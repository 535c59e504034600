; `__vsetgts4` of CUDA: comparison of signed bytes: 1 if a is greater than b, else 0.
kernel vsetgts4(a: in i8x4, b: in i8x4, result: out i8x4) {
  let i = item_id()
  result[i] = select(a[i] >_s b[i], 1, 0)
}

; run: halu, vp1, ptx: @vsetgts4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x00000000, 0x00000000, 0x01000000, 0x00000000, 0x01010000, 0x00000000, 0x01010100, 0x00000000, 0x01010101, 0x00000000, 0x01010101, 0x01000000, 0x01010101, 0x01010000, 0x01010101, 0x01010100]
; run: halu, vp1, ptx: @vsetgts4 items=1001 a=random(1001, 571) b=random(1001, 572) result=zeros(1001)
