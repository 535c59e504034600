; `__vabs4` of CUDA: absolute value of signed bytes, wrapping: the least number gives itself.
kernel vabs4(a: in i8x4, result: out i8x4) {
  let i = item_id()
  result[i] = abs(a[i])
}

; run: halu, vp1, ptx: @vabs4 items=4 a=[0x3f020100, 0x7f7e5540, 0xaa828180, 0xfffec1c0] result=zeros(4) -> result=[0x3f020100, 0x7f7e5540, 0x567e7f80, 0x01023f40]
; run: halu, vp1, ptx: @vabs4 items=1001 a=random(1001, 311) result=zeros(1001)
