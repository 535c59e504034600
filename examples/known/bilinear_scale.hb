; Scaling of a row of pixels by linear interpolation: pixel i is at i * `step` in 16.16 fixed point, with 7 bits of the fraction.
kernel bilinear_scale(step: i32, s: in i8, d: out i8) {
  let i = item_id()
  let at = i * step
  let whole = at >>_u 16
  let part = at >>_u 9 & 127
  let a = zext.i32(s[whole])
  let b = zext.i32(s[whole + 1])
  d[i] = trunc((a << 7) + (b - a) * part + 64 >>_u 7)
}

; run: halu, vp1, ptx: @bilinear_scale items=100 step=36864 s=random(64, 101)
