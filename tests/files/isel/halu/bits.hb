; test: isel halu
; Counts of bits, rotations, dot products, and bytes chosen at run time.

kernel @popcount(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = popcount.i32 %a    ; check: POPC
  store %r, %o[%i]
  ret
}
; rule: int_popcount

kernel @clz(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = clz.i32 %a    ; check: FLO
  store %r, %o[%i]
  ret
}
; rule: int_clz

kernel @bit_reverse(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = bit_reverse.i32 %a    ; check: BREV
  store %r, %o[%i]
  ret
}
; rule: int_bit_reverse

kernel @rotations(%n: i32, %x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %b = rotl.i32 %a, %k    ; check: SHF.L.U32.HI
  %r = rotr.i32 %b, %n    ; check: SHF.R.U32
  store %r, %o[%i]
  ret
}
; rule: int_rotl, int_rotr

kernel @dot4_s(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = dot4_s.i8x4 %a, %b, %c    ; check: IDP.4A.S8.S8
  store %r, %o[%i]
  ret
}
; rule: dot4_s

kernel @dot2_s(%c: i32, %x: in i16x2, %y: in i16x2, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = dot2_s.i16x2 %a, %b, %c    ; check: IMAD
  store %r, %o[%i]
  ret
}
; rule: dot2_s, half_extended

kernel @dot4_u(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = dot4_u.i8x4 %a, %b, %c    ; check: IDP.4A.U8.U8
  store %r, %o[%i]
  ret
}
; rule: dot4_u

kernel @dot2_u(%c: i32, %x: in i16x2, %y: in i16x2, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = dot2_u.i16x2 %a, %b, %c    ; check: IMAD
  store %r, %o[%i]
  ret
}
; rule: dot2_u, half_extended

kernel @dot4_su(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = dot4_su.i8x4 %a, %b, %c    ; check: IDP.4A.S8.U8
  store %r, %o[%i]
  ret
}
; rule: dot4_su

kernel @dot2_su(%c: i32, %x: in i16x2, %y: in i16x2, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = dot2_su.i16x2 %a, %b, %c    ; check: IMAD
  store %r, %o[%i]
  ret
}
; rule: dot2_su, half_extended

kernel @dot2_of_signed_bytes(%c: i32, %x: in i16x2, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %b0 = extract.i8x4 %b, 0
  %b1 = extract.i8x4 %b, 1
  %w0 = sext.i16 %b0
  %w1 = sext.i16 %b1
  %w = concat.i16x2 %w0, %w1
  %r = dot2_s.i16x2 %a, %w, %c    ; check: IDP.2A.LO.S16.S8
  store %r, %o[%i]
  ret
}
; rule: dot2_s_bytes

kernel @dot2_of_unsigned_bytes(%c: i32, %x: in i16x2, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %b0 = extract.i8x4 %b, 2
  %b1 = extract.i8x4 %b, 3
  %w0 = zext.i16 %b0
  %w1 = zext.i16 %b1
  %w = concat.i16x2 %w0, %w1
  %r = dot2_s.i16x2 %a, %w, %c    ; check: IDP.2A.HI.S16.U8
  store %r, %o[%i]
  ret
}
; rule: dot2_s_of_unsigned_bytes

kernel @dot2_of_unsigned(%c: i32, %x: in i16x2, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %b0 = extract.i8x4 %b, 0
  %b1 = extract.i8x4 %b, 1
  %w0 = zext.i16 %b0
  %w1 = zext.i16 %b1
  %w = concat.i16x2 %w0, %w1
  %r = dot2_u.i16x2 %a, %w, %c    ; check: IDP.2A.LO.U16.U8
  store %r, %o[%i]
  ret
}
; rule: dot2_u_bytes

kernel @dot2_of_mixed(%c: i32, %x: in i16x2, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %b0 = extract.i8x4 %b, 2
  %b1 = extract.i8x4 %b, 3
  %w0 = zext.i16 %b0
  %w1 = zext.i16 %b1
  %w = concat.i16x2 %w0, %w1
  %r = dot2_su.i16x2 %a, %w, %c    ; check: IDP.2A.HI.S16.U8
  store %r, %o[%i]
  ret
}
; rule: dot2_su_bytes

; Bytes from both halves, and out of order.

kernel @dot2_of_no_pair(%c: i32, %x: in i16x2, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %b0 = extract.i8x4 %b, 1
  %b1 = extract.i8x4 %b, 2
  %w0 = sext.i16 %b0
  %w1 = sext.i16 %b1
  %w = concat.i16x2 %w0, %w1
  %r = dot2_s.i16x2 %a, %w, %c    ; check: IMAD
  store %r, %o[%i]
  ret
}
; rule: dot2_s

kernel @lanes_chosen_at_run_time(%x: in i8x16, %y: in i8x16, %o: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = swizzle.i8x16 %a, %b    ; check: PRMT
  store %r, %o[%i]
  ret
}
; rule: swizzle_quad, swizzled_word

kernel @extremes_of_singles(%x: in f32, %y: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %m = fmin.nan.f32 %a, %b    ; check: FMNMX.NAN
  %r = fmax.f32 %m, %b    ; check: FMNMX
  store %r, %o[%i]
  ret
}
; rule: single_fmin, single_fmax

kernel @halves_of_integers(%x: in i32, %p: out f16, %o: out f16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %s = fcvt_from_s.rp.f16 %a    ; check: I2F.S32
  store %s, %p[%i]
  %r = fcvt_from_u.f16 %a    ; check: I2F.U32
  store %r, %o[%i]
  ret
}
; rule: int_to_f16_s, int_to_f16_u
