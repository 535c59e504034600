; explain: %r vp1
; The accumulator does not hold this sum exactly. Of its low bytes the target has the product.
kernel @k(%x: in i8x16, %y: in i8x16, %z: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %p = mul_wide_s.i8x16 %a, %b
  %n = const.i16x16 1000
  %s = mul.i16x16 %p, %n
  %r = trunc.i8x16 %s
  store %r, %z[%i]
  ret
}
;= %r = trunc.i8x16 %s
;=   case.hb:11:3, @k, for vp1
;=
;= passes
;=   pack: vectorised over neighbouring work items
;=   legalise: the target lacks the op; computed by byte planes
;=        %r = trunc.i8x16 %s
;=     -> %v16 = trunc.i8x16 %p
;=     -> %v17 = const.i16x16 8
;=     -> %v18 = shr_s.i16x16 %p, %v17
;=     -> %v19 = trunc.i8x16 %v18
;=     -> %v20 = const.i8x16 -24
;=     -> %v21 = const.i8x16 3
;=     -> %r = mul.i8x16 %v16, %v20
;=     -> %v23 = mul_hi_u.i8x16 %v16, %v20
;=     -> %v24 = mul.i8x16 %v16, %v21
;=     -> %v25 = mul.i8x16 %v19, %v20
;=     -> %v26 = zext.i16x16 %v23
;=     -> %v27 = zext.i16x16 %v24
;=     -> %v28 = add.i16x16 %v26, %v27
;=     -> %v29 = zext.i16x16 %v25
;=     -> %v30 = add.i16x16 %v28, %v29
;=     -> %v31 = trunc.i8x16 %v30
;=   legalise: removed: its result is unused
;=        %v17 = const.i16x16 8
;=   legalise: removed: its result is unused
;=        %v18 = shr_s.i16x16 %p, %v17
;=   legalise: removed: its result is unused
;=        %v19 = trunc.i8x16 %v18
;=   legalise: removed: its result is unused
;=        %v21 = const.i8x16 3
;=   legalise: removed: its result is unused
;=        %v23 = mul_hi_u.i8x16 %v16, %v20
;=   legalise: removed: its result is unused
;=        %v24 = mul.i8x16 %v16, %v21
;=   legalise: removed: its result is unused
;=        %v25 = mul.i8x16 %v19, %v20
;=   legalise: removed: its result is unused
;=        %v26 = zext.i16x16 %v23
;=   legalise: removed: its result is unused
;=        %v27 = zext.i16x16 %v24
;=   legalise: removed: its result is unused
;=        %v28 = add.i16x16 %v26, %v27
;=   legalise: removed: its result is unused
;=        %v29 = zext.i16x16 %v25
;=   legalise: removed: its result is unused
;=        %v30 = add.i16x16 %v28, %v29
;=   legalise: removed: its result is unused
;=        %v31 = trunc.i8x16 %v30
;=
;= selection
;=   %0 = trunc.i8x16 %p
;=     by narrow_to_low_bits (isel/rules/vp1/wide.isle:49), priority 40: inst @ (Trunc $I8X16 _)
;=     000f  0x815ad81e  vmul s rd int 0x0 lo $v11 s $v11 s $v12
;=     0017  0x815ad81e  vmul s rd int 0x0 lo $v11 s $v11 s $v12
;=   %1 = const.i8x16 -24
;=     no instruction of its own; merged into %r = mul.i8x16 %0, %1
;=       by src_const (isel/rules/vp1/sources.isle:8), priority 1: (const_src constant)
;=   %r = mul.i8x16 %0, %1
;=     by bytes_mul (isel/rules/vp1/bytes.isle:85), priority 10: (Mul $I8X16 a b)
;=       %1 by src_const (isel/rules/vp1/sources.isle:8)
;=     0012  0xb152f419  vmul u rd int 0x0 lo $v10 u $v11 u 0xe8
;=     0019  0xb152f419  vmul u rd int 0x0 lo $v10 u $v11 u 0xe8
;=     001e  0xb152f419  vmul u rd int 0x0 lo $v10 u $v11 u 0xe8
