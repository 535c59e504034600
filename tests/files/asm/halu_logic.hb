; test: asm halu
; Bitwise functions of pairs of words: one LOP3 for each word, though `and`, `not` and `xor` are separate ops of 64 bits.
kernel chi(a: in i64, b: in i64, c: in i64, y: out i64) {
  let i = item_id()
  y[i] = a[i] ^ !b[i] & c[i]                 ; check: LOP3 {{.*}} 0xa6
}                                            ; next: LOP3 {{.*}} 0xa6
; not: LOP3

; A pair that is stored keeps its words in place, and both uses read them.
kernel both(a: in i64, b: in i64, c: in i64, y: out i64) {
  let i = item_id()
  let d = a[i] ^ rotl(b[i], 1)
  y[2 * i] = d                               ; check: LOP3 {{.*}} 0x3c
  y[2 * i + 1] = d & c[i]                    ; check: LOP3 {{.*}} 0xc0
}
; never: MOV

; Majority beside a shared product is one LOP3 (0xe8).
kernel majority(x: in i32, y: out i32) {
  let i = item_id()
  let (a, b, c, d) = (x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3])
  y[2 * i] = a & b ^ a & c ^ b & c           ; check: LOP3 {{.*}} 0xe8
  y[2 * i + 1] = a & b ^ a & d ^ b & d       ; check: LOP3 {{.*}} 0xe8
}
; not: LOP3

; A sum of bits that each user takes with one more word is not computed on its own.
kernel taken(x: in i32, y: out i32) {
  let i = item_id()
  let d = x[i] ^ x[i + 1]
  y[2 * i] = d ^ x[i + 2]                    ; check: LOP3 {{.*}} 0x96
  y[2 * i + 1] = d ^ x[i + 3]                ; check: LOP3 {{.*}} 0x96
}
; not: LOP3

; Functions of four words stay two LOP3, and a word that is stored is computed.
kernel four(x: in i32, y: out i32) {
  let i = item_id()
  let d = x[i] & x[i + 1]
  y[2 * i] = d                               ; check: LOP3 {{.*}} 0xc0
  y[2 * i + 1] = d ^ x[i + 2] & x[i + 3]     ; check: LOP3 {{.*}} 0x6a
}

; Masks that are joined: one PRMT of the joined differences, as it copies signs bit by bit.
kernel joined(x: in i8x4, z: in i8x4, y: out i8x4) {
  let i = item_id()
  y[i] = select((x[i] >_u 64) & (x[i] <_u z[i]), x[i], 0)   ; check: PRMT
}
; not: PRMT

; Masks of lanes of different widths are not joined.
kernel apart(x: in i8x4, z: in i16x2, y: out i32) {
  let i = item_id()
  let (a, b) = (mask_expand.i8x4(x[i] <_u 9), mask_expand.i16x2(z[i] <_s 9))
  y[i] = bitcast.i32(a) & bitcast.i32(b)     ; check: PRMT
}                                            ; check: PRMT

; A mask with another use keeps its own PRMT.
kernel used(x: in i8x4, z: in i8x4, y: out i8x4) {
  let i = item_id()
  let m = x[i] <_u z[i]
  y[2 * i] = select(m, x[i], 7)              ; check: PRMT
  y[2 * i + 1] = select(m & (x[i] >_s z[i]), x[i], 0)   ; check: PRMT
}

; A sign test of bytes is the PRMT of the operand itself.
kernel negative(x: in i8x4, z: in i8x4, y: out i8x4) {
  let i = item_id()
  y[i] = select(x[i] <_s 0, z[i], 0)         ; check: PRMT
}
; never: vsub4

; The same test against the bounds of the sign.
kernel bound(x: in i8x4, z: in i8x4, y: out i8x4) {
  let i = item_id()
  y[i] = select(x[i] >_u 127, z[i], 0)       ; check: PRMT
}
; never: vsub4

; Bytes that are zero: the difference to zero is the operand.
kernel zero(x: in i8x4, z: in i8x4, y: out i8x4) {
  let i = item_id()
  y[i] = select(x[i] == 0, z[i], 0)          ; check: vsub4
}
; never: vabsdiff4

; Bytes that equal a constant: LOP3 takes it.
kernel constant(x: in i8x4, z: in i8x4, y: out i8x4) {
  let i = item_id()
  y[i] = select(x[i] == 21, z[i], 0)         ; check: LOP3 {{.*}} 0x15151515
}
; never: vabsdiff4

; A bit that is tested needs no shift.
kernel bit_of(x: in i32, z: in i32, y: out i32) {
  let i = item_id()
  y[i] = if (x[i] >>_u 5 & 1) != 0 { z[i] } else { 0 }   ; check: LOP3 {{.*}} 0x20
}
; never: SHF

; A bit that comes in below is LEA.
kernel below(x: in i32, z: in i32, y: out i32) {
  let i = item_id()
  let on = if x[i] >_u z[i] { 1 } else { 0 }
  y[i] = z[i] << 1 | on                      ; check: LEA {{.*}} 0x1 ;
}
; never: SHF.L

; Bits that may overlap stay a LOP3.
kernel overlap(x: in i32, z: in i32, y: out i32) {
  let i = item_id()
  y[i] = z[i] << 1 | x[i] & 3                ; check: LOP3 {{.*}} 0xea
}

; The same word of constant memory is moved once.
kernel twice(x: in i32, n: i32, y: out i32) {
  let i = item_id()
  y[i] = (x[i] >>_u n) ^ (x[i] >>_s n)       ; check: MOV {{.*}} c[0x0][0x168]
}
; not: c[0x0][0x168]

; A sum that several larger sums share is computed once, with three terms.
kernel three(x: in i32, y: out i32) {
  let i = item_id()
  let s = x[i] + x[i + 1] + x[i + 2]
  y[i] = s + x[i + 3]                        ; check: IADD3
  y[i + 1] = s + x[i + 4]                    ; check: IADD3
}                                            ; check: IADD3
; not: IADD3

; A sum of two terms that each user adds is not computed on its own.
kernel terms(x: in i32, y: out i32) {
  let i = item_id()
  let s = x[i] + x[i + 1]
  y[i] = s + x[i + 3]                        ; check: IADD3
  y[i + 1] = s + x[i + 4]                    ; check: IADD3
}
; not: IADD3

; A rounding shift by a known count takes three words.
kernel rounding(x: in i32, y: out i32) {
  let i = item_id()
  y[i] = round_shr_s(x[i], 15)               ; check: SHF.R.S32.HI
}
; never: SHF.L

; A table of the kernel's own at a known place is a number.
kernel table(x: in i32, y: out i32, t: in i32 = [11, 22, 33]) {
  let i = item_id()
  y[i] = x[i] + t[1]                         ; check: IADD3 {{.*}} 0x16
}
