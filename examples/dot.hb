; The scalar product of two vectors of halves, as a sample of CUDA does it: products are summed by multiply-adds, in four
; words of two sums, which a tree of additions brings together. The last sum becomes a number of 32 bits; those of all
; items are summed by whoever reads them. Item i takes `length` groups of four words, at least one, side by side.
kernel @dot(%length: i32, %a: in f16x2 align 16, %b: in f16x2 align 16, %sums: out f32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %four = const.i32 4
  %none = const.f16x2 0
  %groups = mul.i32 %i, %length
  %start = mul.i32 %groups, %four
  br ^step(%zero, %start, %none, %none, %none, %none)
^step(%k: i32, %at: i32, %s0: f16x2, %s1: f16x2, %s2: f16x2, %s3: f16x2):
  %a0 = load %a[%at]
  %a1 = load %a[%at + 1]
  %a2 = load %a[%at + 2]
  %a3 = load %a[%at + 3]
  %b0 = load %b[%at]
  %b1 = load %b[%at + 1]
  %b2 = load %b[%at + 2]
  %b3 = load %b[%at + 3]
  %t0 = ffma.f16x2 %a0, %b0, %s0
  %t1 = ffma.f16x2 %a1, %b1, %s1
  %t2 = ffma.f16x2 %a2, %b2, %s2
  %t3 = ffma.f16x2 %a3, %b3, %s3
  %k1 = add.i32 %k, %one
  %at1 = add.i32 %at, %four
  %more = icmp.lt_s.i32 %k1, %length
  br_if %more, ^step(%k1, %at1, %t0, %t1, %t2, %t3), ^tree
^tree:
  %u0 = fadd.f16x2 %t0, %t1
  %u1 = fadd.f16x2 %t2, %t3
  %v = fadd.f16x2 %u0, %u1
  %lo = extract.f16x2 %v, 0
  %hi = extract.f16x2 %v, 1
  %both = fadd.f16 %lo, %hi
  %sum = fcvt.f32 %both
  store %sum, %sums[%i]
  ret
}

; run: halu, ptx: @dot items=2 length=2 a=[[-4, -0.5], [0.5, -5], [4.25, -2.25], [4.25, 5], [-2.25, -4.5], [-5, 5], [4, -3], [2.25, 2.25], [-0.2178, 0.7866], [-0.3794, 1.113], [-1.191, 0.181], [1.827, 0.1426], [-0.35, 0.6685], [-2.062, -0.7295], [-0.4043, 0.68], [-0.2737, 0.5347]] b=[[-4.5, 3.5], [4.25, 4.25], [-4, 4], [-1, 2.25], [4.75, -1.25], [-0.5, -2.25], [-2.75, -0.75], [0.5, 2.75], [-4.5, -1], [-4.5, -4], [3.75, -4], [2.5, 4], [1.75, 0.75], [0.75, -5], [5, -0.25], [-1.25, -1.5]] sums=zeros(2) -> sums=[0xc2148000, 0xc0516000]
; run: halu, ptx: @dot items=50 length=5 a=random(1000, 451) b=random(1000, 452) sums=zeros(50)

; Numbers as they come between the layers of a network: four items take 64 words each.
; run: halu, ptx: @dot items=4 length=16 a=@activations.npy b=@activations-residual.npy sums=zeros(4) -> sums=[0xc1ad8000, 0x402ac000, 0xc1894000, 0xc0468000]
