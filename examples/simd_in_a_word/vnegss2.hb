; `__vnegss2` of CUDA: negation of signed half-words, saturating: the least number gives the greatest.
kernel vnegss2(a: in i16x2, result: out i16x2) {
  let i = item_id()
  result[i] = sub_sat_s(0, a[i])
}

; run: halu, vp1, ptx: @vnegss2 items=8 a=[0x00010000, 0x010000ff, 0x55553fff, 0x7fff7ffe, 0x80018000, 0xaaaa80ff, 0xff00c000, 0xfffffffe] result=zeros(8) -> result=[0xffff0000, 0xff00ff01, 0xaaabc001, 0x80018002, 0x7fff7fff, 0x55567f01, 0x01004000, 0x00010002]
; run: halu, vp1, ptx: @vnegss2 items=1001 a=random(1001, 381) result=zeros(1001)
