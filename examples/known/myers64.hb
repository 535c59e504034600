; Approximate string matching as in myers.hb, for patterns of 64 letters.
kernel myers64(len: i32, peq: in i64, txt: in i8, best: out i32) {
  var (k, up, down, distance, least) = (0, -1i64, 0i64, 64, 64)
  let i = item_id()
  var at = i * len
  do {
    let eq = peq[zext(txt[at])]
    let v = eq | down
    let d = ((eq & up) + up ^ up) | eq
    let (p, m) = (down | !(d | up), up & d)
    distance = distance + trunc(p >>_u 63) - trunc(m >>_u 63)
    let (ph, mh) = (p << 1, m << 1)
    up = mh | !(v | ph)
    down = ph & v
    least = min_s(least, distance)
    at += 1
    k += 1
  } while k <_s len
  best[i] = least
}

; run: halu, ptx: @myers64 items=4 len=50 peq=random(256, 101) txt=random(200, 102)
