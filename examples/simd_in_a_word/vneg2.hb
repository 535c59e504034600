; `__vneg2` of CUDA: negation of signed half-words, wrapping: the least number gives itself.
kernel vneg2(a: in i16x2, result: out i16x2) {
  let i = item_id()
  result[i] = -a[i]
}

; run: halu, vp1, ptx: @vneg2 items=8 a=[0x00010000, 0x010000ff, 0x55553fff, 0x7fff7ffe, 0x80018000, 0xaaaa80ff, 0xff00c000, 0xfffffffe] result=zeros(8) -> result=[0xffff0000, 0xff00ff01, 0xaaabc001, 0x80018002, 0x7fff8000, 0x55567f01, 0x01004000, 0x00010002]
; run: halu, vp1, ptx: @vneg2 items=1001 a=random(1001, 361) result=zeros(1001)
