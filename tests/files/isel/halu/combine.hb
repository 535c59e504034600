; test: isel halu
; Instructions that take in others.

; A byte of a word, extended, is one PRMT; the lowest of them that is shifted down is a shift no more.
kernel @bytes(%x: in i8x4, %y: out i32, %z: out i32, %w: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]                 ; check: LDG {{.*}} rd=[[V:v\d+]]
  %b = extract.i8x4 %v, 1
  %zext = zext.i32 %b              ; next: PRMT {{.*}} 0x4441{{.*}} ra=[[V]]
  %c = extract.i8x4 %v, 2
  %sext = sext.i32 %c              ; next: PRMT {{.*}} 0xaaa2{{.*}} ra=[[V]]
  %word = bitcast.i32 %v
  %sixteen = const.i32 16
  %t = shr_u.i32 %word, %sixteen
  %mask = const.i32 255
  %field = and.i32 %t, %mask       ; next: PRMT {{.*}} 0x4442{{.*}} ra=[[V]]
  store %zext, %y[%i]
  store %sext, %z[%i]
  store %field, %w[%i]
  ret
}
; never: SHF

; The upper bytes of two pairs of halfwords.
kernel @upper_bytes(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]                 ; check: LDG {{.*}} rd=[[A:v\d+]]
  %b = load %y[%i]                 ; next: LDG {{.*}} rd=[[B:v\d+]]
  %eight = const.i32 8
  %mask = const.i32 0xff00ff
  %p = shr_u.i32 %a, %eight
  %q = shr_u.i32 %b, %eight
  %c = and.i32 %p, %mask
  %d = and.i32 %q, %mask
  %e = bitcast.i8x4 %c
  %f = bitcast.i8x4 %d
  %g = shuffle.i8x4 %e, %f, [0, 2, 4, 6]
  %r = bitcast.i32 %g              ; next: PRMT {{.*}} 0x7531{{.*}} ra=[[A]], r64=[[B]]
  store %r, %z[%i]                 ; next: STG
  ret
}

; What a load has extended is not extended again.
kernel @loaded(%x: in i8, %y: in i16, %p: out i32, %q: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]                 ; check: LDG.U8
  %b = load %y[%i]                 ; next: LDG.S16
  %c = zext.i32 %a
  %d = sext.i32 %b
  store %c, %p[%i]                 ; next: STG
  store %d, %q[%i]                 ; next: STG
  ret
}

; Functions of three words, of numbers and their complements, and of `not`.
kernel @logic(%x: in i32, %y: in i32, %z: in i32, %o: out i32, %p: out i32, %q: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]                 ; check: LDG
  %b = load %y[%i]                 ; next: LDG
  %c = load %z[%i]                 ; next: LDG
  %d = xor.i32 %a, %b
  %r = xor.i32 %d, %c              ; next: LOP3 {{.*}} 0x96
  %n = not.i32 %a
  %e = and.i32 %a, %b
  %f = and.i32 %n, %c
  %s = or.i32 %e, %f               ; next: LOP3
  %h = const.i32 0xfffe
  %l = const.i32 0xffff0001
  %g = and.i32 %b, %h
  %j = and.i32 %c, %l
  %t = or.i32 %g, %j               ; next: LOP3
  store %r, %o[%i]                 ; next: STG
  store %s, %p[%i]
  store %t, %q[%i]
  ret
}

; What is read elsewhere too is there anyway.
kernel @shared(%x: in i32, %y: in i32, %z: in i32, %o: out i32, %p: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %z[%i]
  %d = xor.i32 %a, %b              ; check: LOP3 {{.*}} 0x3c
  %r = or.i32 %d, %c               ; next: LOP3 {{.*}} 0xfc
  store %r, %o[%i]
  store %d, %p[%i]
  ret
}

; Sums of products and of shifts.
kernel @sums(%x: in i32, %y: in i32, %z: in i32, %o: out i32, %p: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]                 ; check: LDG {{.*}} rd=[[A:v\d+]]
  %b = load %y[%i]                 ; next: LDG {{.*}} rd=[[B:v\d+]]
  %c = load %z[%i]                 ; next: LDG {{.*}} rd=[[C:v\d+]]
  %m = mul.i32 %a, %b
  %n = mul.i32 %b, %c
  %s = add.i32 %a, %m
  %r = add.i32 %n, %s              ; check: IMAD {{.*}} r64=[[A]]
                                   ; next: IMAD
  %three = const.i32 3
  %t = shl.i32 %c, %three
  %u = add.i32 %a, %t              ; check: LEA {{.*}} 0x3 ;{{.*}} ra=[[C]], r32=[[A]]
  store %r, %o[%i]
  store %u, %p[%i]
  ret
}
; never: IADD3

; A term that stays takes no move.
kernel @strides(%w: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %j = add.i32 %i, %w              ; check: IADD3 {{.*}} c[0x0][0x160]
  %k = add.i32 %j, %w              ; check: IADD3 {{.*}} c[0x0][0x160]
  %a = load %x[%j]
  %b = load %x[%k]
  %r = xor.i32 %a, %b
  store %r, %y[%i]
  ret
}
; never: MOV
; no rule: int_add3
