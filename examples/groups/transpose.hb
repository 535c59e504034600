; The transpose of a matrix of n by n, in tiles of 16 by 16 that lie in shared memory with a row of 17, so that the items of a column reach
; different banks. n is a multiple of 16, and the grid has n/16 by n/16 groups of 16 by 16 items.
kernel @transpose(%n: i32, %x: in f32, %y: out f32) {
  shared %tile: f32[272]
^entry:
  %c17 = const.i32 17
  %c16 = const.i32 16
  %u = local_id.x
  %v = local_id.y
  %gx = group_id.x
  %gy = group_id.y
  %col = item_id.x
  %row = item_id.y
  %r0 = mul.i32 %row, %n
  %from = add.i32 %r0, %col
  %a = load %x[%from wide]
  %t0 = mul.i32 %v, %c17
  %t = add.i32 %t0, %u
  store %a, %tile[%t]
  barrier
  %q0 = mul.i32 %u, %c17
  %q = add.i32 %q0, %v
  %b = load %tile[%q]
  %x0 = mul.i32 %gy, %c16
  %to_col = add.i32 %x0, %u
  %y0 = mul.i32 %gx, %c16
  %to_row = add.i32 %y0, %v
  %w0 = mul.i32 %to_row, %n
  %to = add.i32 %w0, %to_col
  store %b, %y[%to wide]
  ret
}
; run: halu, ptx: @transpose grid=2,2 block=16,16 n=32 x=random(1024, 7) y=zeros(1024)
