; `__vmins4` of CUDA: the lesser of two bytes as signed numbers.
kernel @vmins4(%a: in i8x4, %b: in i8x4, %result: out i8x4) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %r = min_s.i8x4 %x, %y
  store %r, %result[%i]
  ret
}

; run: halu, vp1, ptx: @vmins4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x7f5a0100, 0xfffe8180, 0x805a0100, 0xfffe8180, 0x81800100, 0xfffe8180, 0xfe818000, 0xfffe8180, 0xfffe8180, 0xfffe8180, 0x00fffe81, 0x80fe8180, 0x0100fffe, 0x81808180, 0x5a0100ff, 0xfe818080]
; run: halu, vp1, ptx: @vmins4 items=1001 a=random(1001, 251) b=random(1001, 252) result=zeros(1001)
