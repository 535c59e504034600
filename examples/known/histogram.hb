; Histograms of 256 bins, one an item: item i counts bytes i n to i n + n - 1.
kernel @hist_private(%n: i32, %s: in i8, %h: inout i32) {
^entry:
  %c2 = const.i32 8
  %c5 = const.i32 0
  %c12 = const.i32 1
  %v1 = item_id
  %v3 = shl.i32 %v1, %c2
  %v4 = mul.i32 %v1, %n
  br ^l1(%c5, %v4)
^l1(%v6: i32, %v7: i32):
  %v8 = load %s[%v7]
  %v9 = zext.i32 %v8
  %v10 = add.i32 %v3, %v9
  %v11 = load %h[%v10]
  %v13 = add.i32 %v11, %c12
  store %v13, %h[%v10]
  %v14 = add.i32 %v7, %c12
  %v15 = add.i32 %v6, %c12
  %v16 = icmp.lt_s.i32 %v15, %n
  br_if %v16, ^l1(%v15, %v14), ^d1
^d1:
  ret
}

; run: halu, ptx: @hist_private items=8 n=512 s=random(4096, 101) h=zeros(2048)
; run: vp1: @hist_private items=4 n=64 s=random(256, 101) h=zeros(1024)
