; `__vcmpgtu4` of CUDA: comparison of unsigned bytes: all bits set if a is greater than b, else 0.
kernel vcmpgtu4(a: in i8x4, b: in i8x4, result: out i8x4) {
  let i = item_id()
  result[i] = mask_expand(a[i] >_u b[i])
}

; run: halu, vp1, ptx: @vcmpgtu4 items=16 a=[0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100] b=[0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f, 0x7f5a0100] result=zeros(16) -> result=[0x00000000, 0x00000000, 0xff000000, 0x00000000, 0xffff0000, 0x00000000, 0xffffff00, 0x00000000, 0xffffffff, 0xff000000, 0xffffffff, 0xffff0000, 0xffffffff, 0xffffff00, 0xffffffff, 0x00000000]
; run: halu, vp1, ptx: @vcmpgtu4 items=1001 a=random(1001, 591) b=random(1001, 592) result=zeros(1001)
