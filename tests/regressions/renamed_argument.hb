; An op that only renames its operand gives a block parameter the operand's register, which another op writes.
kernel @renamed_argument(%a: in f32, %p: inout i32, %r: out i32, %q: out i64) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %w = bitcast.i32 %x
  %b = bitcast.i64 %p
  br ^next(%w, %b)
^next(%v: i32, %c: i64):
  store %v, %r[%i]
  store %c, %q[%i]
  ret
}
