; test: isel ptx
; Two clamped words: one instruction.
kernel @pack(%a_in: in i32, %b_in: in i32, %out0: out i16x2, %out1: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = narrow_sat_s.i16 %a
  %y = narrow_sat_s.i16 %b
  %r = concat.i16x2 %x, %y
  %u = narrow_sat_u.i16 %a
  %v = narrow_sat_u.i16 %b
  %s = concat.i16x2 %u, %v
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: pack_words_s, pack_words_u
; check: cvt.pack.sat.s16.s32
; check: cvt.pack.sat.u16.s32
; never: prmt

; One of them.
kernel @narrow(%a_in: in i32, %out0: out i16, %out1: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = narrow_sat_s.i16 %a
  %s = narrow_sat_u.i16 %a
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: narrow_word_s, narrow_word_u

; The halves are clamped to different ranges.
kernel @apart(%a_in: in i32, %b_in: in i32, %out0: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = narrow_sat_s.i16 %a
  %y = narrow_sat_u.i16 %b
  %r = concat.i16x2 %x, %y
  store %r, %out0[%i]
  ret
}
; no rule: pack_words_s, pack_words_u
