; `__vsubss4` of CUDA: the difference of two bytes as signed numbers, clamped to their range.
kernel vsubss4(a: in i8x4, b: in i8x4, result: out i8x4) {
  let i = item_id()
  result[i] = sub_sat_s(a[i], b[i])
}

; run: halu, vp1, ptx: @vsubss4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x00000000, 0x00000000, 0x7fdba7ff, 0xffff83ff, 0x7f7f82a6, 0xfefe8282, 0x7f7f7f81, 0xa5fd8181, 0x7f5c7f7f, 0x80a48080, 0x7f5b037f, 0x7f808080, 0x7e5a0202, 0x7e7e8080, 0x25590101, 0x017d0180]
; run: halu, vp1, ptx: @vsubss4 items=1001 a=random(1001, 91) b=random(1001, 92) result=zeros(1001)
