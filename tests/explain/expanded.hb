; explain: %r halu
; HALU has no rounding shift.
kernel @k(%x: in i32, %y: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = round_shr_u.i32 %a, %b
  store %r, %y[%i]
  ret
}
;= %r = round_shr_u.i32 %a, %b
;=   case.hb:8:3, @k, for halu
;=
;= passes
;=   legalise: the target lacks the op; expanded by round_shr_u_by_bits (lower/rules/expand.isle:99)
;=        %r = round_shr_u.i32 %a, %b
;=     -> %v6 = const.i32 1
;=     -> %v7 = shl.i32 %a, %v6
;=     -> %v8 = shr_u.i32 %v7, %b
;=     -> %v9 = shr_u.i32 %a, %b
;=     -> %v10 = const.i32 1
;=     -> %v11 = and.i32 %v8, %v10
;=     -> %r = add.i32 %v9, %v11
;=     cost: 7 instructions
;=   gvn: replaced by an equal earlier value
;=        %v10 = const.i32 1
;=     -> %v6 = const.i32 1
;=
;= selection
;=   %0 = const.i32 1
;=     no instruction of its own; merged into %1 = shl.i32 %a, %0
;=       by src_const (isel/rules/threads/sources.isle:8), priority 2: (const_word bits)
;=     no instruction of its own; merged into %4 = and.i32 %2, %0
;=       by src_const (isel/rules/threads/sources.isle:8), priority 2: (const_word bits)
;=   %1 = shl.i32 %a, %0
;=     by int_shl (isel/rules/threads/integer.isle:60), priority 1: (Shl $I32 a n)
;=       %0 by src_const (isel/rules/threads/sources.isle:8)
;=     0006  0x00000000000000ff0000000101037819  SHF.L.U32 R3, R1, 0x1, RZ ;
;=   %2 = shr_u.i32 %1, %b
;=     by int_shr_u (isel/rules/threads/integer.isle:65), priority 1: (ShrU $I32 a n)
;=     0007  0x000000000000300300000002ff037219  SHF.R.U32.HI R3, RZ, R2, R3 ;
;=   %3 = shr_u.i32 %a, %b
;=     by int_shr_u (isel/rules/threads/integer.isle:65), priority 1: (ShrU $I32 a n)
;=     0008  0x000000000000300100000002ff017219  SHF.R.U32.HI R1, RZ, R2, R1 ;
;=   %4 = and.i32 %2, %0
;=     by word_and (isel/rules/threads/integer.isle:170), priority 0: (And (bits32 ty) a b)
;=       %0 by src_const (isel/rules/threads/sources.isle:8)
;=     0009  0x0000000000c000ff0000000103027812  LOP3 R2, R3, 0x1, RZ, 0xc0 ;
;=   %r = add.i32 %3, %4
;=     by int_add (isel/rules/halu/integer.isle:4), priority 2: (Add $I32 a b)
;=     000a  0x00001c3c000000ff0000000201017210  IADD3 R1, R1, R2, RZ ;
;=
;= not taken
;=   by selection
;=     int_mad (isel/rules/halu/integer.isle:20), priority 4
;=       line 20: expected (Mul $I32 a b), found `%3 = shr_u.i32 %a, %b`
;=     int_add3 (isel/rules/halu/integer.isle:7), priority 3
;=       line 7: expected (Add $I32 a b), found `%3 = shr_u.i32 %a, %b`
;=   by canon
;=     round_shr_u_zero (lower/rules/simplify.isle:184), priority 0
;=       line 184: expected (iconst 0), found `%b = load %y[%i]`
