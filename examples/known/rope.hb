; Rotary positional embedding of interleaved pairs: word i, a pair of halves, is turned by the angle whose cosine and sine are floats 2 i and 2 i + 1
; of the table, which `n` words share.
kernel @rope(%n: i32, %x: inout f16x2, %cs: in f32) {
^entry:
  %v1 = item_id
  %v2 = load %x[%v1]
  %v3 = add.i32 %v1, %v1
  %v4 = load %cs[%v3]
  %v5 = load %cs[%v3 + 1]
  %v6 = extract.f16x2 %v2, 0
  %v7 = fcvt.f32 %v6
  %v8 = extract.f16x2 %v2, 1
  %v9 = fcvt.f32 %v8
  %v10 = fmul.f32 %v7, %v4
  %v11 = fmul.f32 %v9, %v5
  %v12 = fsub.f32 %v10, %v11
  %v13 = fmul.f32 %v7, %v5
  %v14 = fmul.f32 %v9, %v4
  %v15 = fadd.f32 %v13, %v14
  %v17 = fcvt.f16 %v12
  %v18 = fcvt.f16 %v15
  %v16 = concat.f16x2 %v17, %v18
  store %v16, %x[%v1]
  ret
}

; run: halu, vp1, ptx: @rope items=64 n=64 x=random(64, 101) cs=random(128, 102)
; run: halu, vp1, ptx: @rope items=64 n=64 x=random(64, 201) cs=random(128, 202)
