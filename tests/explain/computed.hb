; explain: %s halu
; Constants are computed by the compiler, and shifted by in the instruction.
kernel @k(%x: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %j = const.i32 3
  %k = const.i32 2
  %s = add.i32 %j, %k
  %r = shl.i32 %a, %s
  store %r, %x[%i]
  ret
}
;= %s = add.i32 %j, %k
;=   case.hb:9:3, @k, for halu
;=
;= passes
;=   fold: folded: its operands are constants
;=        %s = add.i32 %j, %k
;=     -> %s = const.i32 5
;=
;= selection
;=   %s = const.i32 5
;=     no instruction of its own; merged into %r = shl.i32 %a, %s
;=       by src_const (isel/rules/threads/sources.isle:8), priority 2: (const_word bits)
