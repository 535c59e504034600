; `__vcmples4` of CUDA: comparison of signed bytes: all bits set if a is at most b, else 0.
kernel vcmples4(a: in i8x4, b: in i8x4, result: out i8x4) {
  let i = item_id()
  result[i] = mask_expand(a[i] <=_s b[i])
}

; run: halu, vp1, ptx: @vcmples4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0xffffffff, 0xffffffff, 0x00ffffff, 0xffffffff, 0x0000ffff, 0xffffffff, 0x000000ff, 0xffffffff, 0x00000000, 0xffffffff, 0x00000000, 0x00ffffff, 0x00000000, 0x0000ffff, 0x00000000, 0x000000ff]
; run: halu, vp1, ptx: @vcmples4 items=1001 a=random(1001, 631) b=random(1001, 632) result=zeros(1001)
