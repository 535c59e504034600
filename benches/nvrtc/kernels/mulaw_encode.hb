; Samples of 16 bits to mu-law (G.711). Each item encodes four samples.
fn encoded(sample: i16) -> i8 {
  let x = sext.i32(sample)
  let sign = select(x <_s 0, 0x80, 0)
  let size = min_s(abs(x), 32635) + 132
  let exponent = 24 - clz(size)
  let mantissa = size >>_u exponent + 3 & 15
  trunc(!(sign | exponent << 4 | mantissa))
}

kernel mulaw_encode(samples: in i16x2 align 8, codes: out i8x4) {
  let i = item_id()
  let (v, w) = (samples[2 * i], samples[2 * i + 1])
  codes[i] = i8x4(encoded(extract(v, 0)), encoded(extract(v, 1)), encoded(extract(w, 0)), encoded(extract(w, 1)))
}
; run: halu, ptx: @mulaw_encode items=256 samples=random(512, 1) codes=zeros(256)
