; Weights of six bits, as a format of quantised language models has them: four low bits lie in one array, two high bits in
; another, and 32 is subtracted. 128 weights are 64 bytes of low bits and 32 of high ones. Byte l of the high bits has
; those of weights l, l + 32, l + 64 and l + 96, from its lowest bits up; their low bits are the low nibbles of bytes l
; and l + 32 and then the high ones.
;
; An item takes 128 weights, four words of four in a step.
kernel @q6_k(%low_bits: in i8x4, %high_bits: in i8x4, %weights: out i8x4) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %eight = const.i32 8
  %sixteen = const.i32 16
  %thirty_two = const.i32 32
  %low_at = mul.i32 %i, %sixteen
  %high_at = mul.i32 %i, %eight
  %to = mul.i32 %i, %thirty_two
  %nibble = const.i8x4 15
  %pair = const.i8x4 48
  %two = const.i8x4 2
  %four = const.i8x4 4
  %middle = const.i8x4 32
  br ^word(%zero)
^word(%k: i32):
  %at = add.i32 %low_at, %k
  %top = add.i32 %high_at, %k
  %out = add.i32 %to, %k
  %l0 = load %low_bits[%at]
  %l1 = load %low_bits[%at + 8]
  %h = load %high_bits[%top]
  %n0 = and.i8x4 %l0, %nibble
  %n1 = and.i8x4 %l1, %nibble
  %n2 = shr_u.i8x4 %l0, %four
  %n3 = shr_u.i8x4 %l1, %four
  %h0 = shl.i8x4 %h, %four
  %h1 = shl.i8x4 %h, %two
  %h3 = shr_u.i8x4 %h, %two
  %p0 = and.i8x4 %h0, %pair
  %p1 = and.i8x4 %h1, %pair
  %p2 = and.i8x4 %h, %pair
  %p3 = and.i8x4 %h3, %pair
  %v0 = or.i8x4 %n0, %p0
  %v1 = or.i8x4 %n1, %p1
  %v2 = or.i8x4 %n2, %p2
  %v3 = or.i8x4 %n3, %p3
  %w0 = sub_sat_s.i8x4 %v0, %middle
  %w1 = sub_sat_s.i8x4 %v1, %middle
  %w2 = sub_sat_s.i8x4 %v2, %middle
  %w3 = sub_sat_s.i8x4 %v3, %middle
  store %w0, %weights[%out]
  store %w1, %weights[%out + 8]
  store %w2, %weights[%out + 16]
  store %w3, %weights[%out + 24]
  %k1 = add.i32 %k, %one
  %more = icmp.lt_s.i32 %k1, %eight
  br_if %more, ^word(%k1), ^done
^done:
  ret
}

; run: halu, vp1, ptx: @q6_k items=1 low_bits=[[252, 63, 207, 48], [70, 205, 143, 147], [109, 217, 103, 100], [192, 153, 120, 96], [216, 110, 108, 196], [242, 158, 240, 55], [26, 171, 57, 211], [12, 125, 39, 247], [84, 216, 229, 58], [205, 193, 48, 167], [118, 170, 60, 60], [110, 21, 150, 46], [2, 234, 11, 140], [238, 142, 128, 250], [71, 129, 158, 159], [134, 59, 209, 4]] high_bits=[[4, 139, 106, 114], [139, 70, 159, 15], [106, 53, 117, 63], [201, 111, 133, 189], [221, 10, 40, 164], [218, 65, 192, 169], [66, 108, 53, 0], [80, 60, 24, 131]] weights=zeros(32) -> weights=[[-20, 31, 15, 0], [22, 13, 31, 19], [13, -7, -9, 20], [-16, 25, -8, -16], [-8, 14, -20, -28], [2, -2, -32, -9], [10, -21, -7, -29], [-20, -19, -25, 23], [-12, 8, 5, -22], [13, -15, 16, 23], [6, -6, -4, 28], [14, 21, -10, 30], [18, 10, 11, -4], [14, -18, -32, 10], [-25, 17, -2, -17], [-26, 27, 1, -28], [-17, -29, 12, 19], [-28, -20, -8, -23], [6, 29, 22, 22], [-20, 9, -25, 22], [-3, -26, 6, 12], [-1, -23, -17, 3], [-31, 10, 19, -19], [-16, 23, -14, -17], [-27, 13, -2, -13], [12, -4, 3, -22], [-9, -22, -13, -29], [22, -15, 9, 2], [16, -18, -32, 8], [30, -8, 24, 15], [-12, -8, -23, -23], [-8, -29, -19, 0]]
; run: halu, vp1, ptx: @q6_k items=101 low_bits=random(1616, 311) high_bits=random(808, 312) weights=zeros(3232)
