; explain: %r halu
; A shift of packed lanes takes one constant for all.
kernel @k(%x: in i8x4, %n: in i8x4, %z: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %n[%i]
  %r = shl.i8x4 %a, %b
  store %r, %z[%i]
  ret
}
;= %r = shl.i8x4 %a, %b
;=   case.hb:8:3, @k, for halu
;=
;= passes
;=   none changes it
;=
;= selection
;=   %r = shl.i8x4 %a, %b
;=     no rule matches
;=
;= not taken
;=   by selection
;=     narrow_shl (isel/rules/threads/integer.isle:35), priority 2
;=       line 35: wanted (lanes_scalar ty), found i8x4
;=     int_shl (isel/rules/threads/integer.isle:28), priority 1
;=       line 28: wanted $I32, found i8x4
;=     video_shl (isel/rules/threads/integer.isle:48), priority 0
;=       line 48: wanted (splat_count n), found `%b = load %n[%i]`
;=   by canon
;=     shl_zero (lower/rules/simplify.isle:143), priority 1
;=       line 143: wanted (iconst 0), found `%b = load %n[%i]`
;=     zero_shl (lower/rules/simplify.isle:145), priority 0
;=       line 145: wanted (iconst 0), found `%a = load %x[%i]`
;=     shl_constants (lower/rules/idioms.isle:267), priority -10
;=       line 267: wanted (Shl _ x (iconst j)), found `%a = load %x[%i]`
;=
;= refused
;=   line 8: halu cannot do `shl.i8x4`: packed lanes shift by one constant for all
