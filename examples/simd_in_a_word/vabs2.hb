; `__vabs2` of CUDA: absolute value of signed half-words, wrapping: the least number gives itself.
kernel vabs2(a: in i16x2, result: out i16x2) {
  let i = item_id()
  result[i] = abs(a[i])
}

; run: halu, vp1, ptx: @vabs2 items=8 a=[0x00010000, 0x010000ff, 0x55553fff, 0x7fff7ffe, 0x80018000, 0xaaaa80ff, 0xff00c000, 0xfffffffe] result=zeros(8) -> result=[0x00010000, 0x010000ff, 0x55553fff, 0x7fff7ffe, 0x7fff8000, 0x55567f01, 0x01004000, 0x00010002]
; run: halu, vp1, ptx: @vabs2 items=1001 a=random(1001, 321) result=zeros(1001)
