; Sum of two pictures, clamped to 255. Each item computes a pixel of four bytes.
kernel saturated_add(a: in i8x4, b: in i8x4, sum: out i8x4) {
  let i = item_id()
  sum[i] = add_sat_u(a[i], b[i])
}
; run: halu, ptx: @saturated_add items=256 a=random(256, 1) b=random(256, 2) sum=zeros(256)
