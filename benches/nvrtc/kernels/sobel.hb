; Strength of edges in a grey picture by Sobel's operator. Each item computes a pixel. Rows are `w` pixels apart.
include "std/load"

kernel sobel(grey: in i8, w: i32, edges: out i8) {
  let i = item_id()
  let (a, b, c) = (load_u8(grey, i), load_u8(grey, i + 1), load_u8(grey, i + 2))
  let (d, f) = (load_u8(grey, i + w), load_u8(grey, i + w + 2))
  let (g, h, k) = (load_u8(grey, i + 2 * w), load_u8(grey, i + 2 * w + 1), load_u8(grey, i + 2 * w + 2))
  let x = c + 2 * f + k - a - 2 * d - g
  let y = g + 2 * h + k - a - 2 * b - c
  edges[i] = trunc(min_s(abs(x) + abs(y), 255))
}
; run: halu, ptx: @sobel items=256 grey=random(400, 1) w=64 edges=zeros(256)
