; Eight elements an item in ascending order, unsigned, by insertion into an array of the item's own.
kernel @sort_eight(%x: inout i32) {
  scratch %s: i32[8]
^entry:
  %zero = const.i32 0
  %one = const.i32 1
  %eight = const.i32 8
  %i = item_id
  %base = mul.i32 %i, %eight
  br ^take(%zero)
^take(%k: i32):
  %at = add.i32 %base, %k
  %v = load %x[%at]
  br ^find(%k)
^find(%p: i32):
  %any = icmp.ne.i32 %p, %zero
  br_if %any, ^look, ^put(%p)
^look:
  %q = sub.i32 %p, %one
  %w = load %s[%q]
  %greater = icmp.gt_u.i32 %w, %v
  br_if %greater, ^shift, ^put(%p)
^shift:
  store %w, %s[%p]
  br ^find(%q)
^put(%to: i32):
  store %v, %s[%to]
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %eight
  br_if %more, ^take(%k1), ^give(%zero)
^give(%g: i32):
  %r = load %s[%g]
  %out = add.i32 %base, %g
  store %r, %x[%out]
  %g1 = add.i32 %g, %one
  %rest = icmp.lt_u.i32 %g1, %eight
  br_if %rest, ^give(%g1), ^end
^end:
  ret
}
; run: halu, ptx: @sort_eight items=2 x=[3, 1, 2, 8, 7, 6, 5, 4, 0, -1, 9, 9, 1, 0, 2, 5] -> x=[1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 1, 2, 5, 9, 9, -1]
; run: halu, ptx: @sort_eight items=20 x=random(160, 15)
