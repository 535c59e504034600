; test: isel halu
; A product that is added to is one instruction.
kernel @fused(%a: i32, %x: in i32, %y: inout i32) {
^entry:
  %i = item_id
  %v = load %x[%i]          ; check: LDG
  %w = load %y[%i]          ; next: LDG {{.*}} rd=[[W:v[0-9]+]] def
  %m = mul.i32 %v, %a
  %r = add.i32 %m, %w       ; next: IMAD {{.*}} c[0x0][0x160]{{.*}} r64=[[W]]
  store %r, %y[%i]          ; next: STG
  ret
}
; rule: int_mad
; never: IADD3

; One that is subtracted is not: IMAD has no sign for it.
kernel @apart(%a: i32, %x: in i32, %y: inout i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %m = mul.i32 %v, %a       ; check: IMAD
  %r = sub.i32 %w, %m       ; next: IADD3
  store %r, %y[%i]
  ret
}
; no rule: int_mad

; test: lower
; The whole output: a sum with zero is the other operand.
kernel @neutral(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %0 = const.i32 0
  %r = add.i32 %v, %0
  store %r, %y[%i]
  ret
}
;= kernel @neutral(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %v = load %x[%i]
;=   store %v, %y[%i]
;=   ret
;= }
