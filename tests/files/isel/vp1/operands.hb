; test: isel vp1
; Values as operands.
kernel @registers_and_constants(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]        ; check: ldas {{.*}} 0x4
  %add = add.i32 %a, %b      ; check: add
  %k = const.i32 -559038737
  %xor = xor.i32 %a, %k      ; check: xor
  store %add, %out1[%i]
  store %xor, %out2[%i]
  ret
}
; rule: src_reg, src_const

; A word of a vector stays there until it is used.
kernel @words_of_vectors(%a_in: in i8x16, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]        ; check: ldas {{.*}} 0x4
  %x = split.i32 %a, 2
  %add = add.i32 %x, %b      ; check: mov 0x0 $v0
                             ; next: add
  store %add, %out[%i]
  ret
}
; rule: src_word

; test: isel vp1 passes=pack
; A word that another block uses is in a register of its own.
kernel @word_used_elsewhere(%a_in: in i8x16, %b_in: in i32, %n: i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]       ; check: ldas {{.*}} 0x4
  %x = split.i32 %a, 2      ; check: mov 0x0 $v0
  %z = const.i32 0
  %c = icmp.lt_s.i32 %n, %z
  br_if %c, ^t, ^e(%b)
^t:
  %u = add.i32 %x, %b       ; check: add
  br ^e(%u)
^e(%q: i32):
  %r = xor.i32 %q, %x       ; check: xor
  store %r, %out[%i]
  ret
}
