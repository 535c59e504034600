; The argument of a parameter may lie in the buffer of another, whose bytes are before it.
kernel @before_its_argument(%y: inout may_alias i32 align 16, %z: inout may_alias i32 align 8) {
^entry:
  %x = load %z[-2]
  %s = add.i32 %x, %x
  store %s, %z[-1]
  ret
}
; run: halu, ptx: @before_its_argument items=1 y=[7, 1] z=&y+8 -> y=[7, 14]
