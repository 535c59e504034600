; `__vmaxs4` of CUDA: the greater of two bytes as signed numbers.
kernel @vmaxs4(%a: in i8x4, %b: in i8x4, %result: out i8x4) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %r = max_s.i8x4 %x, %y
  store %r, %result[%i]
  ret
}

; run: halu, vp1, ptx: @vmaxs4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x7f5a0100, 0xfffe8180, 0x7f7f5a01, 0x00fffe81, 0x7f5a7f5a, 0x0100fffe, 0x7f5a017f, 0x5a0100ff, 0x7f5a0100, 0x7f5a0100, 0x7f5a0100, 0xff7f5a01, 0x7f5a0100, 0xfffe7f5a, 0x7f5a0100, 0xfffe817f]
; run: halu, vp1, ptx: @vmaxs4 items=1001 a=random(1001, 211) b=random(1001, 212) result=zeros(1001)
