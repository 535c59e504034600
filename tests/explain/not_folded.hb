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
;=   legalise: the target lacks the op; computed lane by lane
;=        %r = shl.i8x4 %a, %b
;=     -> %v7 = extract.i8x4 %a, 0
;=     -> %v8 = extract.i8x4 %a, 1
;=     -> %v9 = extract.i8x4 %a, 2
;=     -> %v10 = extract.i8x4 %a, 3
;=     -> %v11 = extract.i8x4 %b, 0
;=     -> %v12 = extract.i8x4 %b, 1
;=     -> %v13 = extract.i8x4 %b, 2
;=     -> %v14 = extract.i8x4 %b, 3
;=     -> %v15 = shl.i8 %v7, %v11
;=     -> %v16 = shl.i8 %v8, %v12
;=     -> %v17 = shl.i8 %v9, %v13
;=     -> %v18 = shl.i8 %v10, %v14
;=     -> %r = concat.i8x4 %v15, %v16, %v17, %v18
;=
;= selection
;=   %0 = extract.i8x4 %a, 0
;=     by extract_word (isel/rules/threads/lanes.isle:51), priority 1: (Extract (word ty) lane v)
;=   %1 = extract.i8x4 %a, 1
;=     by extract_word (isel/rules/threads/lanes.isle:51), priority 1: (Extract (word ty) lane v)
;=     0007  0x000000000000300200000008ff037819  SHF.R.U32.HI R3, RZ, 0x8, R2 ;
;=   %2 = extract.i8x4 %a, 2
;=     by extract_word (isel/rules/threads/lanes.isle:51), priority 1: (Extract (word ty) lane v)
;=     0008  0x000000000000300200000010ff017819  SHF.R.U32.HI R1, RZ, 0x10, R2 ;
;=   %3 = extract.i8x4 %a, 3
;=     by extract_word (isel/rules/threads/lanes.isle:51), priority 1: (Extract (word ty) lane v)
;=     0009  0x000000000000300200000018ff007819  SHF.R.U32.HI R0, RZ, 0x18, R2 ;
;=   %4 = extract.i8x4 %b, 0
;=     by extract_word (isel/rules/threads/lanes.isle:51), priority 1: (Extract (word ty) lane v)
;=   %5 = extract.i8x4 %b, 1
;=     by extract_word (isel/rules/threads/lanes.isle:51), priority 1: (Extract (word ty) lane v)
;=     000a  0x000000000000300400000008ff077819  SHF.R.U32.HI R7, RZ, 0x8, R4 ;
;=   %6 = extract.i8x4 %b, 2
;=     by extract_word (isel/rules/threads/lanes.isle:51), priority 1: (Extract (word ty) lane v)
;=     000b  0x000000000000300400000010ff067819  SHF.R.U32.HI R6, RZ, 0x10, R4 ;
;=   %7 = extract.i8x4 %b, 3
;=     by extract_word (isel/rules/threads/lanes.isle:51), priority 1: (Extract (word ty) lane v)
;=     000c  0x000000000000300400000018ff057819  SHF.R.U32.HI R5, RZ, 0x18, R4 ;
;=   %8 = shl.i8 %0, %4
;=     by narrow_shl (isel/rules/threads/integer.isle:67), priority 2: (Shl (lanes_scalar ty) a n)
;=     000d  0x0000000000c000ff0000000704097812  LOP3 R9, R4, 0x7, RZ, 0xc0 ;
;=     000e  0x00000000000000ff0000000902027219  SHF.L.U32 R2, R2, R9, RZ ;
;=   %9 = shl.i8 %1, %5
;=     by narrow_shl (isel/rules/threads/integer.isle:67), priority 2: (Shl (lanes_scalar ty) a n)
;=     000f  0x0000000000c000ff0000000707097812  LOP3 R9, R7, 0x7, RZ, 0xc0 ;
;=     0010  0x00000000000000ff0000000903037219  SHF.L.U32 R3, R3, R9, RZ ;
;=   %10 = shl.i8 %2, %6
;=     by narrow_shl (isel/rules/threads/integer.isle:67), priority 2: (Shl (lanes_scalar ty) a n)
;=     0011  0x0000000000c000ff0000000706097812  LOP3 R9, R6, 0x7, RZ, 0xc0 ;
;=     0012  0x00000000000000ff0000000901017219  SHF.L.U32 R1, R1, R9, RZ ;
;=   %11 = shl.i8 %3, %7
;=     by narrow_shl (isel/rules/threads/integer.isle:67), priority 2: (Shl (lanes_scalar ty) a n)
;=     0013  0x0000000000c000ff0000000705097812  LOP3 R9, R5, 0x7, RZ, 0xc0 ;
;=     0014  0x00000000000000ff0000000900007219  SHF.L.U32 R0, R0, R9, RZ ;
;=   %r = concat.i8x4 %8, %9, %10, %11
;=     by concat_bytes (isel/rules/threads/lanes.isle:68), priority 5: (Concat4 (word _) a b c d)
;=     0015  0x00000000000000030000004002087816  PRMT R8, R2, 0x40, R3 ;
;=     0016  0x00000000000000000000004001007816  PRMT R0, R1, 0x40, R0 ;
;=     0017  0x00000000000000000000541008007816  PRMT R0, R8, 0x5410, R0 ;
;=
;= not taken
;=   by canon
;=     shl_zero (lower/rules/simplify.isle:168), priority 1
;=       line 168: expected (iconst 0), found `%b = load %n[%i]`
;=     zero_shl (lower/rules/simplify.isle:170), priority 0
;=       line 170: expected (iconst 0), found `%a = load %x[%i]`
;=     shl_constants (lower/rules/idioms.isle:306), priority -10
;=       line 306: expected (Shl _ x (iconst j)), found `%a = load %x[%i]`
;=     shl_by_masked (lower/rules/idioms.isle:315), priority -15
;=       line 315: expected (And _ n (iconst k)), found `%b = load %n[%i]`
