; f32 to bfloat16 with stochastic rounding: what is cut off is compared with a hash of the seed and the item's number. Infinities and NaN are kept.
kernel @bf16_sr(%seed: i32, %x: in f32, %y: out bf16) {
^entry:
  %c5 = const.i32 2654435761
  %c7 = const.i32 15
  %c10 = const.i32 2246822507
  %c12 = const.i32 13
  %c15 = const.i32 65535
  %c18 = const.i32 16
  %c20 = const.i32 2139095040
  %v1 = item_id
  %v2 = load %x[%v1]
  %v3 = bitcast.i32 %v2
  %v4 = xor.i32 %v1, %seed
  %v6 = mul.i32 %v4, %c5
  %v8 = shr_u.i32 %v6, %c7
  %v9 = xor.i32 %v6, %v8
  %v11 = mul.i32 %v9, %c10
  %v13 = shr_u.i32 %v11, %c12
  %v14 = xor.i32 %v11, %v13
  %v16 = and.i32 %v14, %c15
  %v17 = add.i32 %v3, %v16
  %v19 = shr_u.i32 %v17, %c18
  %v21 = and.i32 %v3, %c20
  %v22 = icmp.ne.i32 %v21, %c20
  %v23 = shr_u.i32 %v3, %c18
  %v24 = select.i32 %v22, %v19, %v23
  %v25 = trunc.i16 %v24
  %v26 = bitcast.bf16 %v25
  store %v26, %y[%v1]
  ret
}

; run: halu, vp1, ptx: @bf16_sr items=500 seed=77 x=random(500, 101)
; run: halu, vp1, ptx: @bf16_sr items=500 seed=78 x=random(500, 201)
