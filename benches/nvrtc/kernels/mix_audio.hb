; Three tracks of samples of 16 bits: the saturated sum of two, without the third one. Each item computes four samples.
kernel mix_audio(a: in i16x2 align 8, b: in i16x2 align 8, hum: in i16x2 align 8, mixed: out i16x2 align 8) {
  let i = item_id()
  unroll for k in 0..2 {
    let at = 2 * i + k
    mixed[at] = sub_sat_s(add_sat_s(a[at], b[at]), hum[at])
  }
}
; run: halu, ptx: @mix_audio items=128 a=random(256, 1) b=random(256, 2) hum=random(256, 3) mixed=zeros(256)
