; Morton codes of points with three coordinates of ten bits. Each item computes a point.
fn spread(v: i32) -> i32 {
  let a = (v | v << 16) & 0x030000ff
  let b = (a | a << 8) & 0x0300f00f
  let c = (b | b << 4) & 0x030c30c3
  (c | c << 2) & 0x09249249
}

kernel morton(x: in i32, y: in i32, z: in i32, codes: out i32) {
  let i = item_id()
  codes[i] = spread(x[i] & 1023) | spread(y[i] & 1023) << 1 | spread(z[i] & 1023) << 2
}
; run: halu, ptx: @morton items=256 x=random(256, 1) y=random(256, 2) z=random(256, 3) codes=zeros(256)
