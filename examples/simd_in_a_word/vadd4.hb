; `__vadd4` of CUDA: the sum of two bytes, wrapping.
kernel @vadd4(%a: in i8x4, %b: in i8x4, %result: out i8x4) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %r = add.i8x4 %x, %y
  store %r, %result[%i]
  ret
}

; run: halu, vp1, ptx: @vadd4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0xfeb40200, 0xfefc0200, 0xffd95b01, 0xfffd7f01, 0x00da805a, 0x00fe807e, 0x7ddb817f, 0x59ff817f, 0x7e588280, 0x7e588280, 0x7f59ff81, 0x7f7ddb81, 0x805a00fe, 0x807e00da, 0xd95b01ff, 0xfd7f01ff]
; run: halu, vp1, ptx: @vadd4 items=1001 a=random(1001, 11) b=random(1001, 12) result=zeros(1001)
