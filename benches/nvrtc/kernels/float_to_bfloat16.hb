; Conversion to bfloat16 by integers, rounded to nearest even; the numbers are no NaNs. Each item converts two numbers.
fn rounded(x: f32) -> i32 {
  let u = bitcast.i32(x)
  u + 0x7fff + (u >>_u 16 & 1)
}

kernel float_to_bfloat16(x: in f32 align 8, y: out i32) {
  let i = item_id()
  y[i] = rounded(x[2 * i]) >>_u 16 | rounded(x[2 * i + 1]) & 0xffff0000
}
; run: halu, ptx: @float_to_bfloat16 items=256 x=random(512, 1) y=zeros(256)
