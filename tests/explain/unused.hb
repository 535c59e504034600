; explain: %n halu
kernel @k(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %n = not.i32 %a
  store %a, %y[%i]
  ret
}
;= %n = not.i32 %a
;=   case.hb:6:3, @k, for halu
;=
;= passes
;=   dce: removed: its result is unused
;=        %n = not.i32 %a
;=
;= selection
;=   nothing remains of it
