; Approximate string matching by Myers, for patterns of at most 32 letters; `peq` has a word of positions for each letter of the alphabet. Item i
; computes the least edit distance to a substring of text i of `len` letters. `m1` is the index of the last letter of the pattern.
kernel myers(len: i32, m1: i32, peq: in i32, txt: in i8, best: out i32) {
  var (k, up, down) = (0, -1, 0)
  let i = item_id()
  let all = m1 + 1
  var (distance, least, at) = (all, all, i * len)
  do {
    let eq = peq[zext(txt[at])]
    let v = eq | down
    let d = ((eq & up) + up ^ up) | eq
    let (p, m) = (down | !(d | up), up & d)
    distance = distance + (p >>_u m1 & 1) - (m >>_u m1 & 1)
    let (ph, mh) = (p << 1, m << 1)
    up = mh | !(v | ph)
    down = ph & v
    least = min_s(least, distance)
    at += 1
    k += 1
  } while k <_s len
  best[i] = least
}

; run: halu, vp1, ptx: @myers items=4 len=50 m1=31 peq=random(256, 101) txt=random(200, 102)
