; `__vsads4` of CUDA: sum of the absolute differences of four pairs of signed bytes.
kernel vsads4(a: in i8x4, b: in i8x4, result: out i32) {
  let i = item_id()
  result[i] = sad_s(a[i], b[i], 0)
}

; run: halu, vp1, ptx: @vsads4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0, 0, 382, 128, 688, 256, 602, 348, 476, 476, 348, 602, 220, 724, 128, 382]
; run: halu, vp1, ptx: @vsads4 items=1001 a=random(1001, 791) b=random(1001, 792) result=zeros(1001)
