; `__vabsdiffs4` of CUDA: absolute difference of signed bytes, as an unsigned number.
kernel vabsdiffs4(a: in i8x4, b: in i8x4, result: out i8x4) {
  let i = item_id()
  result[i] = absdiff_s(a[i], b[i])
}

; run: halu, vp1, ptx: @vabsdiffs4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x00000000, 0x00000000, 0xff255901, 0x01017d01, 0xfeda7e5a, 0x02027e7e, 0x81d9817f, 0x5b037f7f, 0x805c8080, 0x805c8080, 0x7f5b037f, 0x7f81d981, 0x7e5a0202, 0x7e7efeda, 0x25590101, 0x017d01ff]
; run: halu, vp1, ptx: @vabsdiffs4 items=1001 a=random(1001, 131) b=random(1001, 132) result=zeros(1001)
