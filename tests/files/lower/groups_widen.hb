; test: lower ptx passes=slp,widen
; What items do when they meet stays as it is, and where it is.

; Neighbouring accesses are one where nothing is between them, and as they were where items meet there.
kernel @neighbours(%x: in i32 align 8, %y: out i32 align 8) {
  shared %s: i32[64] align 8
^entry:
  %a = load %x[0]
  %b = load %x[1]
  store %a, %s[0]
  store %b, %s[1]
  barrier
  %c = load %s[0]
  barrier
  %d = load %s[1]
  store %c, %y[0]
  fence.release.device
  store %d, %y[1]
  ret
}
;= kernel @neighbours(%x: in i32 align 8, %y: out i32 align 8) {
;=   shared %s: i32[64] align 8
;= ^entry:
;=   %0 = load.i64 %x
;=   %a = split.i32 %0, 0
;=   %b = split.i32 %0, 1
;=   store.i64 %0, %s
;=   barrier
;=   %c = load %s
;=   barrier
;=   %d = load %s[1]
;=   store %c, %y
;=   fence.release.device
;=   store %d, %y[1]
;=   ret
;= }
