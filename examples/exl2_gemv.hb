; The inner loop of a language model that writes word by word: a matrix, of weights that have been brought into halves,
; times a vector. Groups of 32 weights are summed in halves, two sums in the lanes of a word, by a chain of 16
; multiply-adds; a group's sum is scaled and added to those before.
;
; Item i is column i. Group g of it is words 16 * (g * item_count + i) and on, and its scale is number g * item_count + i;
; the vector's part is words 16 * g and on. There is at least one group.
kernel @exl2_gemv(%groups: i32, %weights: in f16x2 align 16, %scales: in f16, %vector: in f16x2 align 16, %product: out f16) {
^entry:
  %i = item_id
  %columns = item_count
  %zero = const.i32 0
  %one = const.i32 1
  %sixteen = const.i32 16
  %none = const.f16 0
  br ^group(%zero, %i, %none)
^group(%g: i32, %at: i32, %sum: f16):
  %from = mul.i32 %at, %sixteen
  %of = mul.i32 %g, %sixteen
  %w0 = load %weights[%from]
  %w1 = load %weights[%from + 1]
  %w2 = load %weights[%from + 2]
  %w3 = load %weights[%from + 3]
  %w4 = load %weights[%from + 4]
  %w5 = load %weights[%from + 5]
  %w6 = load %weights[%from + 6]
  %w7 = load %weights[%from + 7]
  %w8 = load %weights[%from + 8]
  %w9 = load %weights[%from + 9]
  %w10 = load %weights[%from + 10]
  %w11 = load %weights[%from + 11]
  %w12 = load %weights[%from + 12]
  %w13 = load %weights[%from + 13]
  %w14 = load %weights[%from + 14]
  %w15 = load %weights[%from + 15]
  %x0 = load %vector[%of]
  %x1 = load %vector[%of + 1]
  %x2 = load %vector[%of + 2]
  %x3 = load %vector[%of + 3]
  %x4 = load %vector[%of + 4]
  %x5 = load %vector[%of + 5]
  %x6 = load %vector[%of + 6]
  %x7 = load %vector[%of + 7]
  %x8 = load %vector[%of + 8]
  %x9 = load %vector[%of + 9]
  %x10 = load %vector[%of + 10]
  %x11 = load %vector[%of + 11]
  %x12 = load %vector[%of + 12]
  %x13 = load %vector[%of + 13]
  %x14 = load %vector[%of + 14]
  %x15 = load %vector[%of + 15]
  %s0 = fmul.f16x2 %w0, %x0
  %s1 = ffma.f16x2 %w1, %x1, %s0
  %s2 = ffma.f16x2 %w2, %x2, %s1
  %s3 = ffma.f16x2 %w3, %x3, %s2
  %s4 = ffma.f16x2 %w4, %x4, %s3
  %s5 = ffma.f16x2 %w5, %x5, %s4
  %s6 = ffma.f16x2 %w6, %x6, %s5
  %s7 = ffma.f16x2 %w7, %x7, %s6
  %s8 = ffma.f16x2 %w8, %x8, %s7
  %s9 = ffma.f16x2 %w9, %x9, %s8
  %s10 = ffma.f16x2 %w10, %x10, %s9
  %s11 = ffma.f16x2 %w11, %x11, %s10
  %s12 = ffma.f16x2 %w12, %x12, %s11
  %s13 = ffma.f16x2 %w13, %x13, %s12
  %s14 = ffma.f16x2 %w14, %x14, %s13
  %s15 = ffma.f16x2 %w15, %x15, %s14
  %lo = extract.f16x2 %s15, 0
  %hi = extract.f16x2 %s15, 1
  %both = fadd.f16 %lo, %hi
  %scale = load %scales[%at]
  %sum1 = ffma.f16 %both, %scale, %sum
  %g1 = add.i32 %g, %one
  %next = add.i32 %at, %columns
  %more = icmp.lt_s.i32 %g1, %groups
  br_if %more, ^group(%g1, %next, %sum1), ^done
^done:
  store %sum1, %product[%i]
  ret
}

; run: halu, ptx: @exl2_gemv items=2 groups=2 weights=[[2, -3], [3, 1], [1, 3], [4, 0], [-7, -5], [-1, 6], [7, -4], [-2, 2], [-8, -3], [6, -5], [-1, 0], [6, 3], [1, -6], [2, 4], [2, -8], [1, 1], [-4, 4], [-1, 4], [-2, -5], [4, 6], [1, -7], [-4, -5], [6, -7], [0, 5], [4, -3], [-3, -5], [1, 3], [-1, 3], [6, 2], [-2, 1], [2, 7], [-3, -3], [-4, 3], [-6, 4], [-1, 4], [2, 2], [-6, 3], [3, -4], [5, -3], [-1, 1], [1, -6], [1, 2], [7, 0], [6, -3], [1, 5], [0, -7], [-3, 5], [5, 1], [-3, 3], [-8, 7], [-1, 3], [-5, -5], [-6, -1], [3, 7], [3, -3], [-2, -7], [-7, 5], [2, 1], [2, -8], [6, 7], [3, -8], [1, -2], [3, 6], [2, -4]] scales=[0.01, 0.5, 0.02, -0.03] vector=[[1.375, 1.5], [-1.375, 0.25], [1.5, -1.5], [-0.75, -0.125], [1.125, 0.5], [1.375, 0.75], [1.125, 1], [-0.25, -1.75], [0.25, -1.375], [-1.25, 0.75], [-1.375, 1.75], [1, 0], [-1, 1.875], [0.5, 0.875], [-1.25, -1.125], [1.5, -0.125], [-0.519, 0.2734], [0.9043, 0.02412], [-0.0601, 0.642], [-0.737, -0.3074], [-0.8096, -0.5137], [-0.3389, 0.509], [2.318, -0.938], [-0.3408, 1.755], [0.99, -2.582], [-0.534, 0.34], [0.8765, -0.81], [-0.6416, 0.0318], [0.9414, 1.982], [-0.79, -0.909], [1.561, -0.1661], [2.098, -0.865]] product=zeros(2) -> product=[0x3b3b, 0xca59]
; run: halu, ptx: @exl2_gemv items=60 groups=3 weights=random(2880, 441) scales=random(180, 442) vector=random(48, 443) product=zeros(60)
