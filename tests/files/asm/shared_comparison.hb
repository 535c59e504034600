; test: asm halu
; A minimum is a selection, so it shares the comparison with another selection.
kernel least(x: in i32, y: out i32, z: out i32) {
  let i = item_id()
  let b = x[i] <_u x[i + 1]
  y[i] = min_u(x[i], x[i + 1])
  z[i] = select(b, i, 9)                     ; check: ISETP
}
; not: ISETP
