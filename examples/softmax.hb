; A row of attention, as weights that are 1 in sum: scores are scaled, those that the mask leaves out go far below, and e
; to the power of what they are less than the greatest is divided by the sum of all of these.
;
; e^x is 2^n 2^f, with n the whole number next to x / ln 2 and a polynomial for 2^f. Adding 1536, which is so large that a
; half has no room for a fraction beside it, rounds to n and leaves it in the low bits, from where a shift brings it into
; the exponent. Numbers of 2^-14 and less become 0.
;
; An item takes a row of `length` words of two halves, at least one. A mask is 1 for scores that count and 0 for others.
; The powers go to weights first and are divided there; their sum is of 32 bits.

; e to the power of a number that is not above 0.
fn power_of(distance: f16x2) -> f16x2 {
  let x = distance * 1.4427
  let seen = fset.gt(x, -14.0)
  let bounded = fmax(x, -14.0)
  let whole = bounded + 1536.0
  let f = bounded - (whole - 1536.0)
  let p = ffma(f, ffma(f, ffma(f, 0.056, 0.2427), 0.693), 1.0)
  ; The exponents' bias, 15, less the bits of 1536.
  let two_to_n = bitcast.f16x2(bitcast.i16x2(whole) + (15 - 26112) << 10)
  p * two_to_n * seen
}

kernel softmax(length: i32, scale: f16x2, scores: in f16x2, mask: in f16x2, weights: inout f16x2) {
  let i = item_id()
  let start = i * length
  var (k, at, most) = (0, start, f16x2(-inf))
  do {
    let s = ffma(scores[at], scale, ffma(mask[at], 10000.0, -10000.0))
    weights[at] = s
    most = fmax(most, s)
    at += 1
    k += 1
  } while k <_s length
  let greatest = fmax(most, shuffle(most, most, [1, 0]))
  var (j, of, sum) = (0, start, 0f32)
  do {
    let power = power_of(weights[of] - greatest)
    weights[of] = power
    sum = sum + fcvt.f32(extract(power, 0)) + fcvt.f32(extract(power, 1))
    of += 1
    j += 1
  } while j <_s length
  let shares = f16x2(fcvt.f16(1.0 / sum))
  var (l, to) = (0, start)
  do {
    weights[to] *= shares
    to += 1
    l += 1
  } while l <_s length
}

; run: halu, ptx: @softmax items=2 length=2 scale=1 scores=[[1, 2], [3, 4], [0, 0], [-8, 20]] mask=[[1, 1], [1, 1], [1, 1], [1, 0]] weights=zeros(4) -> weights=[0x2d94281b, 0x39273395, 0x38003800, 0x00000982]
; run: halu, ptx: @softmax items=40 length=9 scale=[0.125, -2] scores=random(360, 411) mask=random(360, 412) weights=zeros(360)

; Eight rows of 64 numbers, of which row r counts the first 8 r + 8.
; run: halu, ptx: @softmax items=8 length=32 scale=0.125 scores=@activations.npy mask=@activations-mask.npy weights=zeros(256) -> weights=@activations-weights.npy
