; `__vminu4` of CUDA: the lesser of two bytes as unsigned numbers.
kernel @vminu4(%a: in i8x4, %b: in i8x4, %result: out i8x4) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %r = min_u.i8x4 %x, %y
  store %r, %result[%i]
  ret
}

; run: halu, vp1, ptx: @vminu4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0x00fe8180, 0x7f5a0100, 0x01008180, 0x7f5a0100, 0x5a010080, 0x7f5a0100, 0x7f5a0100, 0x005a0100, 0x807f5a01, 0x01000100, 0x81807f5a, 0x5a010000, 0xfe81807f]
; run: halu, vp1, ptx: @vminu4 items=1001 a=random(1001, 271) b=random(1001, 272) result=zeros(1001)
