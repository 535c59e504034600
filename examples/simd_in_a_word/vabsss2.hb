; `__vabsss2` of CUDA: absolute value of signed half-words, saturating: the least number gives the greatest.
kernel vabsss2(a: in i16x2, result: out i16x2) {
  let i = item_id()
  let x = a[i]
  result[i] = max_s(x, sub_sat_s(0, x))
}

; run: halu, vp1, ptx: @vabsss2 items=8 a=[0x00010000, 0x010000ff, 0x55553fff, 0x7fff7ffe, 0x80018000, 0xaaaa80ff, 0xff00c000, 0xfffffffe] result=zeros(8) -> result=[0x00010000, 0x010000ff, 0x55553fff, 0x7fff7ffe, 0x7fff7fff, 0x55567f01, 0x01004000, 0x00010002]
; run: halu, vp1, ptx: @vabsss2 items=1001 a=random(1001, 341) result=zeros(1001)
