; Transpose of a matrix of n by n, in tiles of 16 by 16 in shared memory. A row of a tile has 17 elements, so that the
; items of a column access different banks. n is a multiple of 16, and the grid has n/16 by n/16 groups of 16 by 16 items.
kernel transpose(n: i32, x: in f32, y: out f32) {
  shared tile: f32[272]
  let (u, v, gx, gy, col, row) = (local_id.x(), local_id.y(), group_id.x(), group_id.y(), item_id.x(), item_id.y())
  tile[v * 17 + u] = x[row * n + col wide]
  barrier()
  let a = tile[u * 17 + v]
  let (to_col, to_row) = (gy * 16 + u, gx * 16 + v)
  y[to_row * n + to_col wide] = a
}
; run: halu, ptx: @transpose grid=2,2 block=16,16 n=32 x=random(1024, 7) y=zeros(1024)
