; `__vabsss4` of CUDA: absolute value of signed bytes, saturating: the least number gives the greatest.
kernel vabsss4(a: in i8x4, result: out i8x4) {
  let i = item_id()
  let x = a[i]
  result[i] = max_s(x, sub_sat_s(0, x))
}

; run: halu, vp1, ptx: @vabsss4 items=4 a=[0x3f020100, 0x7f7e5540, 0xaa828180, 0xfffec1c0] result=zeros(4) -> result=[0x3f020100, 0x7f7e5540, 0x567e7f7f, 0x01023f40]
; run: halu, vp1, ptx: @vabsss4 items=1001 a=random(1001, 331) result=zeros(1001)
