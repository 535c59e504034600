; Brute-force matching of ORB descriptors of 256 bits: item i finds the descriptor
; among the `n` in `t` with the least Hamming distance to descriptor i of `q`.

fn bits(a: i32) -> i32 {
  let pairs = a - (a >>_u 1 & 0x55555555)
  let fours = (pairs & 0x33333333) + (pairs >>_u 2 & 0x33333333)
  (fours + (fours >>_u 4) & 0x0f0f0f0f) * 0x01010101 >>_u 24
}

kernel orb_match(n: i32, q: in i32 align 16, t: in i32 align 16, best: out i32) {
  let i = item_id()
  var own: i32[8]
  unroll for k in 0..8 { own[k] = q[i * 8 + k] }
  var (j, least, at) = (0, -1, 0)
  do {
    var distance = bits(own[0] ^ t[at])
    unroll for k in 1..8 { distance += bits(own[k] ^ t[at + k]) }
    least = min_u(least, distance << 16 | j)
    at += 8
    j += 1
  } while j <_s n
  best[i] = least
}

; run: halu, vp1, ptx: @orb_match items=16 n=20 q=random(128, 101) t=random(160, 101)
; run: halu, vp1, ptx: @orb_match items=16 n=20 q=random(128, 201) t=random(160, 201)
