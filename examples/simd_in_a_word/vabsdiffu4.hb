; `__vabsdiffu4` of CUDA: how far apart two bytes are as unsigned numbers.
kernel @vabsdiffu4(%a: in i8x4, %b: in i8x4, %result: out i8x4) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %r = absdiff_u.i8x4 %x, %y
  store %r, %result[%i]
  ret
}

; run: halu, vp1, ptx: @vabsdiffu4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x00000000, 0x00000000, 0x01255901, 0xff017d01, 0x02267e5a, 0xfefe7e7e, 0x7f277f7f, 0xa5fd817f, 0x80a48080, 0x80a48080, 0x7fa5fd81, 0x7f7f277f, 0x7e5afefe, 0x7e7e0226, 0x255901ff, 0x017d0101]
; run: halu, vp1, ptx: @vabsdiffu4 items=1001 a=random(1001, 151) b=random(1001, 152) result=zeros(1001)
