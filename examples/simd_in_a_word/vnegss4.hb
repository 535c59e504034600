; `__vnegss4` of CUDA: negation of signed bytes, saturating: the least number gives the greatest.
kernel vnegss4(a: in i8x4, result: out i8x4) {
  let i = item_id()
  result[i] = sub_sat_s(0, a[i])
}

; run: halu, vp1, ptx: @vnegss4 items=4 a=[0x3f020100, 0x7f7e5540, 0xaa828180, 0xfffec1c0] result=zeros(4) -> result=[0xc1feff00, 0x8182abc0, 0x567e7f7f, 0x01023f40]
; run: halu, vp1, ptx: @vnegss4 items=1001 a=random(1001, 371) result=zeros(1001)
