; explain: %s halu
kernel @k(%s: i32, %y: inout i32) {
^entry:
  %i = item_id
  %a = load %y[%i]
  %r = add.i32 %a, %s
  store %r, %y[%i]
  ret
}
;= the parameter `%s: i32`
;=   case.hb, @k, for halu
;=
;= passes
;=   no pass changes it
;=
;= selection
;=   the parameter `%s: i32`
;=     no instruction of its own; merged into %r = add.i32 %a, %s
;=       by src_param (isel/rules/halu/sources.isle:5), priority 1: (param_word offset)
