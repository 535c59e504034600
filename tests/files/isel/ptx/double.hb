; test: isel ptx
; f64, in pairs of words.
kernel @fadd(%a_in: in f64, %b_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fadd.f64 %a, %b        ; check: add.rn.f64
  %r1 = fadd.rz.f64 %r0, %b    ; check: add.rz.f64
  %r2 = fadd.rp.f64 %r1, %b    ; check: add.rp.f64
  %r = fadd.rm.f64 %r2, %b     ; check: add.rm.f64
  store %r, %out[%i]
  ret
}
; rule: double_fadd

kernel @fsub(%a_in: in f64, %b_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fsub.f64 %a, %b        ; check: sub.rn.f64
  %r1 = fsub.rz.f64 %r0, %b    ; check: sub.rz.f64
  %r2 = fsub.rp.f64 %r1, %b    ; check: sub.rp.f64
  %r = fsub.rm.f64 %r2, %b     ; check: sub.rm.f64
  store %r, %out[%i]
  ret
}
; rule: double_fsub

kernel @fmul(%a_in: in f64, %b_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fmul.f64 %a, %b        ; check: mul.rn.f64
  %r1 = fmul.rz.f64 %r0, %b    ; check: mul.rz.f64
  %r2 = fmul.rp.f64 %r1, %b    ; check: mul.rp.f64
  %r = fmul.rm.f64 %r2, %b     ; check: mul.rm.f64
  store %r, %out[%i]
  ret
}
; rule: double_fmul

kernel @ffma(%a_in: in f64, %b_in: in f64, %c_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %r0 = ffma.f64 %a, %b, %c        ; check: fma.rn.f64
  %r1 = ffma.rz.f64 %r0, %b, %c    ; check: fma.rz.f64
  %r2 = ffma.rp.f64 %r1, %b, %c    ; check: fma.rp.f64
  %r = ffma.rm.f64 %r2, %b, %c     ; check: fma.rm.f64
  store %r, %out[%i]
  ret
}
; rule: double_ffma

kernel @fdiv(%a_in: in f64, %b_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fdiv.f64 %a, %b        ; check: div.rn.f64
  %r1 = fdiv.rz.f64 %r0, %b    ; check: div.rz.f64
  %r2 = fdiv.rp.f64 %r1, %b    ; check: div.rp.f64
  %r = fdiv.rm.f64 %r2, %b     ; check: div.rm.f64
  store %r, %out[%i]
  ret
}
; rule: double_fdiv

kernel @fsqrt(%a_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r0 = fsqrt.f64 %a        ; check: sqrt.rn.f64
  %r1 = fsqrt.rz.f64 %r0    ; check: sqrt.rz.f64
  %r2 = fsqrt.rp.f64 %r1    ; check: sqrt.rp.f64
  %r = fsqrt.rm.f64 %r2     ; check: sqrt.rm.f64
  store %r, %out[%i]
  ret
}
; rule: double_fsqrt

kernel @fmin(%a_in: in f64, %b_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fmin.f64 %a, %b    ; check: min.f64
  store %r, %out[%i]
  ret
}
; rule: double_fmin

kernel @fmax(%a_in: in f64, %b_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fmax.f64 %a, %b    ; check: max.f64
  store %r, %out[%i]
  ret
}
; rule: double_fmax

kernel @fneg(%a_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fneg.f64 %a    ; check: xor.b32
  store %r, %out[%i]
  ret
}
; rule: double_fneg

kernel @fabs(%a_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fabs.f64 %a    ; check: and.b32
  store %r, %out[%i]
  ret
}
; rule: double_fabs

kernel @fcmp(%a_in: in f64, %b_in: in f64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c0 = fcmp.eq.f64 %a, %b            ; check: setp.eq.f64
  %s0 = select.f64 %c0, %b, %a
  %c1 = fcmp.ne.f64 %s0, %b           ; check: setp.ne.f64
  %s1 = select.f64 %c1, %b, %s0
  %c2 = fcmp.lt.f64 %s1, %b           ; check: setp.lt.f64
  %s2 = select.f64 %c2, %b, %s1
  %c3 = fcmp.le.f64 %s2, %b           ; check: setp.le.f64
  %s3 = select.f64 %c3, %b, %s2
  %c4 = fcmp.gt.f64 %s3, %b           ; check: setp.gt.f64
  %s4 = select.f64 %c4, %b, %s3
  %c5 = fcmp.ge.f64 %s4, %b           ; check: setp.ge.f64
  %s5 = select.f64 %c5, %b, %s4
  %c6 = fcmp.equ.f64 %s5, %b          ; check: setp.equ.f64
  %s6 = select.f64 %c6, %b, %s5
  %c7 = fcmp.neu.f64 %s6, %b          ; check: setp.neu.f64
  %s7 = select.f64 %c7, %b, %s6
  %c8 = fcmp.ltu.f64 %s7, %b          ; check: setp.ltu.f64
  %s8 = select.f64 %c8, %b, %s7
  %c9 = fcmp.leu.f64 %s8, %b          ; check: setp.leu.f64
  %s9 = select.f64 %c9, %b, %s8
  %c10 = fcmp.gtu.f64 %s9, %b         ; check: setp.gtu.f64
  %s10 = select.f64 %c10, %b, %s9
  %c11 = fcmp.geu.f64 %s10, %b        ; check: setp.geu.f64
  %s11 = select.f64 %c11, %b, %s10
  %c12 = fcmp.num.f64 %s11, %b        ; check: setp.num.f64
  %s12 = select.f64 %c12, %b, %s11
  %c13 = fcmp.nan.f64 %s12, %b        ; check: setp.nan.f64
  %r = select.f64 %c13, %b, %s12
  store %r, %out[%i]
  ret
}
; rule: double_fcmp

kernel @fcvt_f32(%a_in: in f32, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.f64 %a    ; check: cvt.f64.f32
  store %r, %out[%i]
  ret
}
; rule: single_to_double

kernel @fcvt_f16(%a_in: in f16, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.f64 %a    ; check: cvt.f64.f16
  store %r, %out[%i]
  ret
}
; rule: half_to_double

kernel @fcvt_to_f32(%a_in: in f64, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.f32 %a    ; check: cvt.rn.f32.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_single

kernel @fcvt_rz_to_f32(%a_in: in f64, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.rz.f32 %a    ; check: cvt.rz.f32.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_single

kernel @fcvt_rp_to_f32(%a_in: in f64, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.rp.f32 %a    ; check: cvt.rp.f32.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_single

kernel @fcvt_rm_to_f32(%a_in: in f64, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.rm.f32 %a    ; check: cvt.rm.f32.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_single

kernel @fcvt_to_f16(%a_in: in f64, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.f16 %a    ; check: cvt.rn.f16.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_half

kernel @fcvt_rz_to_f16(%a_in: in f64, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.rz.f16 %a    ; check: cvt.rz.f16.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_half

kernel @fcvt_rp_to_f16(%a_in: in f64, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.rp.f16 %a    ; check: cvt.rp.f16.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_half

kernel @fcvt_rm_to_f16(%a_in: in f64, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.rm.f16 %a    ; check: cvt.rm.f16.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_half

kernel @from_s_i32(%a_in: in i32, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.f64 %a    ; check: cvt.rn.f64.s32
  store %r, %out[%i]
  ret
}
; rule: word_to_double_s

kernel @from_s_i64(%a_in: in i64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.f64 %a    ; check: cvt.rn.f64.s64
  store %r, %out[%i]
  ret
}
; rule: pair_to_double_s

kernel @from_s_i64_rz(%a_in: in i64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.rz.f64 %a    ; check: cvt.rz.f64.s64
  store %r, %out[%i]
  ret
}
; rule: pair_to_double_s

kernel @from_s_i64_rp(%a_in: in i64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.rp.f64 %a    ; check: cvt.rp.f64.s64
  store %r, %out[%i]
  ret
}
; rule: pair_to_double_s

kernel @from_s_i64_rm(%a_in: in i64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.rm.f64 %a    ; check: cvt.rm.f64.s64
  store %r, %out[%i]
  ret
}
; rule: pair_to_double_s

kernel @to_s_i32(%a_in: in f64, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_to_s.i32 %a    ; check: cvt.rzi.s32.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_word_s

kernel @to_s_i64(%a_in: in f64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_to_s.i64 %a    ; check: cvt.rzi.s64.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_pair_s

kernel @from_u_i32(%a_in: in i32, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.f64 %a    ; check: cvt.rn.f64.u32
  store %r, %out[%i]
  ret
}
; rule: word_to_double_u

kernel @from_u_i64(%a_in: in i64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.f64 %a    ; check: cvt.rn.f64.u64
  store %r, %out[%i]
  ret
}
; rule: pair_to_double_u

kernel @from_u_i64_rz(%a_in: in i64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.rz.f64 %a    ; check: cvt.rz.f64.u64
  store %r, %out[%i]
  ret
}
; rule: pair_to_double_u

kernel @from_u_i64_rp(%a_in: in i64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.rp.f64 %a    ; check: cvt.rp.f64.u64
  store %r, %out[%i]
  ret
}
; rule: pair_to_double_u

kernel @from_u_i64_rm(%a_in: in i64, %out: out f64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.rm.f64 %a    ; check: cvt.rm.f64.u64
  store %r, %out[%i]
  ret
}
; rule: pair_to_double_u

kernel @to_u_i32(%a_in: in f64, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_to_u.i32 %a    ; check: cvt.rzi.u32.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_word_u

kernel @to_u_i64(%a_in: in f64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_to_u.i64 %a    ; check: cvt.rzi.u64.f64
  store %r, %out[%i]
  ret
}
; rule: double_to_pair_u

; Constants, parameters, choices, block parameters and bits.
kernel @moved(%x: in f64, %s: f64, %c: i32, %out: out f64, %bits: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.f64 -2.5
  %0 = const.i32 0
  %p = icmp.eq.i32 %c, %0
  %q = select.f64 %p, %k, %s
  br_if %p, ^end(%q), ^end(%a)
^end(%r: f64):
  %b = bitcast.i64 %r
  store %r, %out[%i]
  store %b, %bits[%i]
  ret
}
; rule: const_in_pair, select_pair, bitcast_word
