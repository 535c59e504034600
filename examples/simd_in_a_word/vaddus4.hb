; `__vaddus4` of CUDA: the sum of two bytes as unsigned numbers, clamped to their range.
kernel @vaddus4(%a: in i8x4, %b: in i8x4, %result: out i8x4) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %r = add_sat_u.i8x4 %x, %y
  store %r, %result[%i]
  ret
}

; run: halu, vp1, ptx: @vaddus4 items=16 a=[0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100] b=[0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f, 0x7f5a0100] result=zeros(16) -> result=[0xffffffff, 0xffd95b01, 0xffffffff, 0xffda805a, 0xfffeffff, 0xffdb817f, 0xffff81ff, 0xffff8280, 0xffff8280, 0x7fffff81, 0xffffdb81, 0x805afffe, 0xffffffda, 0xd95b01ff, 0xffffffff, 0xfeb40200]
; run: halu, vp1, ptx: @vaddus4 items=1001 a=random(1001, 51) b=random(1001, 52) result=zeros(1001)
