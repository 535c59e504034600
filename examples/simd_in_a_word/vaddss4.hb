; `__vaddss4` of CUDA: the sum of two bytes as signed numbers, clamped to their range.
kernel @vaddss4(%a: in i8x4, %b: in i8x4, %result: out i8x4) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %r = add_sat_s.i8x4 %x, %y
  store %r, %result[%i]
  ret
}

; run: halu, vp1, ptx: @vaddss4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x7f7f0200, 0xfefc8080, 0xff7f5b01, 0xfffd8080, 0x00da7f5a, 0x00fe8080, 0x7ddb817f, 0x59ff8180, 0x7e588280, 0x7e588280, 0x7f59ff81, 0x807ddb81, 0x7f5a00fe, 0x808000da, 0x7f5b01ff, 0xfd8080ff]
; run: halu, vp1, ptx: @vaddss4 items=1001 a=random(1001, 31) b=random(1001, 32) result=zeros(1001)
