; A vertical step of the 5/3 wavelet of JPEG 2000 on samples of up to 14 bits: the low and the high row for five rows. Each item
; computes two columns.
fn high(above: i16x2, at: i16x2, below: i16x2) -> i16x2 { at - (above + below >>_s 1) }

fn low(above: i16x2, at: i16x2, below: i16x2) -> i16x2 { at + (above + below + 2 >>_s 2) }

kernel wavelet(rows: in i16x2, w: i32, lows: out i16x2, highs: out i16x2) {
  let i = item_id()
  let (a, b, c, d, e) = (rows[i], rows[i + w], rows[i + 2 * w], rows[i + 3 * w], rows[i + 4 * w])
  let g = high(a, b, c)
  let h = high(c, d, e)
  lows[i] = low(g, c, h)
  highs[i] = h
}
; run: halu, ptx: @wavelet items=16 rows=[0xe0001f6a, 0x1c72fadf, 0xe00011e5, 0xe0450217, 0xfd48ed15, 0xe3ea0001, 0xffff1607, 0xfc601f76, 0x0c3f1fff, 0x05171545, 0xeccc0000, 0x00001607, 0xf84c1feb, 0x1259e46b, 0x13bff625, 0x0ff60001, 0x1fff1256, 0xe3c9077d, 0x1261f594, 0xe193fdb7, 0x0c020d38, 0x0277e0bb, 0xf08bfa4d, 0xe72f0eaf, 0xf99414ea, 0x0dabe033, 0x0a62e394, 0xf6aef723, 0x00ade000, 0xe00003fe, 0xe000f7a1, 0xe8e50000, 0xf58505b1, 0x0937ee9d, 0xfffff811, 0x0071fac3, 0x1740e2aa, 0xffff1fff, 0x169cfc3c, 0x19b5e000, 0x091e1690, 0x00001fff, 0x0737e000, 0x06201545, 0xf0b0e000, 0xfbda1afd, 0x00011061, 0xe000ffff, 0x1f05ffff, 0x1ff90001, 0x04031fff, 0xf14cfb44, 0xec570c03, 0x1e04fe08, 0xe0001fff, 0x00010000, 0x00ad0b8e, 0x1fff1e90, 0x0001090d, 0xe000f2db, 0x0ba20001, 0x10630001, 0xe0000eb4, 0xeea1037a, 0xe000e195, 0xe1dce000, 0xe51f0001, 0xeecafee6, 0xe000106b, 0x05a21d0e, 0xfa93e512, 0x000008fd, 0x0819e837, 0x1a591fff, 0x1c050129, 0x1fffff89, 0x03f0ffff, 0x0001fd1c, 0x07441fff, 0x06c2e000] w=16 lows=zeros(16) highs=zeros(16)
