; Softmax of a row of attention. Scores are scaled, and masked scores become very negative. The result
; is e^(score - maximum), divided by the sum of these powers, so that the weights have the sum 1.
;
; e^x is 2^n 2^f, where n is x / ln 2 rounded to an integer, and a polynomial computes
; 2^f. The addition of 1536 rounds to n, because the ulp at 1536 is 1. It leaves n in the
; low bits, from where a shift moves it into the exponent. Numbers up to 2^-14 become 0.
;
; Each item computes a row of `length` words of two halves, at least 1. The mask is 1 for scores that count and
; 0 for others. The item first stores the powers in the weights, and divides them in place. Their sum is in f32.

; e to the power of a number that is at most 0.
fn power_of(distance: f16x2) -> f16x2 {
  let x = distance * 1.4427
  let seen = fset.gt(x, -14.0)
  let bounded = fmax(x, -14.0)
  let whole = bounded + 1536.0
  let f = bounded - (whole - 1536.0)
  let p = ffma(f, ffma(f, ffma(f, 0.056, 0.2427), 0.693), 1.0)
  ; The exponent bias, 15, minus the bits of 1536.
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

; Eight rows of 64 numbers; row r has 8 r + 8 scores that count.
; run: halu, ptx: @softmax items=8 length=32 scale=0.125 scores=@activations.npy mask=@activations-mask.npy weights=zeros(256) -> weights=@activations-weights.npy
