; Floyd-Steinberg dithering to black and white. The algorithm is serial: one item computes the whole picture, with the errors of a row in `e`.
kernel fs_dither(w: i32, h: i32, s: in i8, e: inout i16, d: out i8) {
  var (row, at) = (0, 0)
  do {
    ; The error that the left pixel adds to this pixel, and to those below, to the left and to the right of it.
    var (x, right, left, below) = (0, 0, 0, 0)
    do {
      let v = zext.i32(s[at]) + (sext.i32(e[x + 1]) + right >>_s 4)
      let white = select(v >_s 127, 255, 0)
      d[at] = trunc(white)
      let error = v - white
      e[x] = trunc(left + error * 3)
      right = error * 7
      left = below + error * 5
      below = error
      at += 1
      x += 1
    } while x <_s w
    e[w] = trunc(left)
    row += 1
  } while row <_s h
}

; run: halu, ptx: @fs_dither items=1 w=128 h=40 s=random(5120, 101) e=zeros(130)
; run: vp1: @fs_dither items=1 w=16 h=10 s=random(160, 101) e=zeros(18)
