; test: asm ptx sm=90
; A lane with sign: a shift of the top lane, `prmt` with copies of the sign of others.
kernel top(x: in i16x2, y: out i32) {
  let i = item_id()
  y[i] = sext.i32(extract(x[i], 1))          ; check: shr.s32
}
; never: bfe

kernel byte(x: in i8x4, y: out i32) {
  let i = item_id()
  y[i] = sext.i32(extract(x[i], 1))          ; check: prmt.b32 {{.*}}, 0x9991
}
; never: bfe

; Without a sign, `bfe` is one machine instruction.
kernel unsigned(x: in i8x4, y: out i32) {
  let i = item_id()
  y[i] = zext.i32(extract(x[i], 1))          ; check: bfe.u32
}

; Comparisons with zero need no subtraction.
kernel negative(x: in i8x4, z: in i8x4, y: out i8x4) {
  let i = item_id()
  y[i] = select(x[i] <_s 0, z[i], 0)         ; check: prmt
}
; never: sub.u32

kernel positive(x: in i16x2, z: in i16x2, y: out i16x2) {
  let i = item_id()
  y[i] = select(x[i] >_s 0, z[i], 0)         ; check: add.u32
}
; never: sub.u32

; Joined masks: one `prmt`.
kernel joined(x: in i8x4, z: in i8x4, y: out i8x4) {
  let i = item_id()
  y[i] = select((x[i] >_u 64) & (x[i] <_u z[i]) | (x[i] == z[i]), x[i], 0)   ; check: prmt
}
; not: prmt

; A mask with one comparison and one that is none.
kernel plain(x: in i8x4, z: in i8x4, n: i32, y: out i8x4) {
  let i = item_id()
  y[i] = select((x[i] >_u 64) & splat.i1x4(n >_s 3), x[i], 0)   ; check: prmt
}
; not: prmt

; An item index times a constant is a part of the step, in 64 bits too.
kernel wide(x: in i32, y: out i32) {
  let i = item_id()
  y[i wide] = x[i * 12 wide]                 ; check: mul.wide.u32 {{.*}}, 48
}
; never: mul.lo

; A product that may wrap is not.
kernel wraps(x: in i32, n: i32, y: out i32) {
  let i = item_id()
  y[i wide] = x[i * n wide]                  ; check: mul.lo
}
