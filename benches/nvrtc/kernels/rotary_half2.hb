; Rotary position embedding of packed halves: complex products with cosine and sine. Each item rotates a pair.
kernel rotary_half2(x: in f16x2, rotations: in f16x2, mask: i32, y: out f16x2) {
  let i = item_id()
  let (v, r) = (x[i], rotations[i & mask])
  let cosine = f16x2(extract(r, 0))
  let sine = f16x2(-extract(r, 1), extract(r, 1))
  y[i] = ffma(shuffle(v, v, [1, 0]), sine, v * cosine)
}
; run: halu, ptx: @rotary_half2 items=512 x=random(512, 1) rotations=random(64, 2) mask=63 y=zeros(512)
