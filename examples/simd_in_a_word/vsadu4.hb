; `__vsadu4` of CUDA: sum of the absolute differences of four pairs of unsigned bytes.
kernel vsadu4(a: in i8x4, b: in i8x4, result: out i32) {
  let i = item_id()
  result[i] = sad_u(a[i], b[i], 0)
}

; run: halu, vp1, ptx: @vsadu4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0, 0, 128, 382, 256, 760, 420, 674, 548, 548, 674, 420, 724, 292, 382, 128]
; run: halu, vp1, ptx: @vsadu4 items=1001 a=random(1001, 811) b=random(1001, 812) result=zeros(1001)
