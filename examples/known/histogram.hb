; Histograms of 256 bins, one for each item: item i counts bytes i * n to i * n + n - 1.
kernel hist_private(n: i32, s: in i8, h: inout i32) {
  var k = 0
  let i = item_id()
  let first = i << 8
  var at = i * n
  do {
    h[first + zext.i32(s[at])] += 1
    at += 1
    k += 1
  } while k <_s n
}

; run: halu, ptx: @hist_private items=8 n=512 s=random(4096, 101) h=zeros(2048)
; run: vp1: @hist_private items=4 n=64 s=random(256, 101) h=zeros(1024)
