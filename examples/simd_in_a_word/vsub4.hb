; `__vsub4` of CUDA: the difference of two bytes, wrapping.
kernel @vsub4(%a: in i8x4, %b: in i8x4, %result: out i8x4) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %r = sub.i8x4 %x, %y
  store %r, %result[%i]
  ret
}

; run: halu, vp1, ptx: @vsub4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x00000000, 0x00000000, 0xffdba7ff, 0xffff83ff, 0xfeda82a6, 0xfefe8282, 0x81d98181, 0xa5fd8181, 0x805c8080, 0x80a48080, 0x7f5b037f, 0x7f7f277f, 0x7e5a0202, 0x7e7e0226, 0x25590101, 0x017d0101]
; run: halu, vp1, ptx: @vsub4 items=1001 a=random(1001, 71) b=random(1001, 72) result=zeros(1001)
