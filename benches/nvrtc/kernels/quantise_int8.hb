; Quantisation of activations: x / scale, rounded to the nearest integer from -127 to 127. Each item computes four numbers.

; The sum with 1.5 * 2^23 has the rounded number in its lowest bits.
fn quantised(x: f32, inverse: f32) -> i8 { trunc.i8(bitcast.i32(fmin(fmax(x * inverse, -127.0), 127.0) + 12582912.0)) }

kernel quantise_int8(x: in f32 align 16, inverse: f32, q: out i8x4) {
  let i = item_id()
  let at = 4 * i
  q[i] = i8x4(quantised(x[at], inverse), quantised(x[at + 1], inverse), quantised(x[at + 2], inverse), quantised(x[at + 3], inverse))
}
; run: halu, ptx: @quantise_int8 items=256 x=random(1024, 1) inverse=37.5 q=zeros(256)
