; test: isel halu
; Words of a quad are read where they were loaded, and written where they are stored from.
kernel @brighten(%x: in i8x4 align 16, %y: out i8x4 align 16, %by: i8x4) {
^entry:
  %i = item_id
  %four = const.i32 4
  %j = mul.i32 %i, %four
  %v0 = load %x[%j]
  %v1 = load %x[%j + 1]
  %v2 = load %x[%j + 2]
  %v3 = load %x[%j + 3]             ; check: LDG.128 {{.*}} rd=[[V:v\d+]].q def
  %r0 = add_sat_u.i8x4 %v0, %by     ; next: vadd4{{.*}} ra=[[V]].q, {{.*}} rd=[[A:v\d+]].q def
  %r1 = add_sat_u.i8x4 %v1, %by     ; next: vadd4{{.*}} ra=[[V]].q[1], {{.*}} rd=[[B:v\d+]].q[1] replaces [[A]].q
  %r2 = add_sat_u.i8x4 %v2, %by     ; next: vadd4{{.*}} ra=[[V]].q[2], {{.*}} rd=[[C:v\d+]].q[2] replaces [[B]].q
  %r3 = add_sat_u.i8x4 %v3, %by     ; next: vadd4{{.*}} ra=[[V]].q[3], {{.*}} rd=[[D:v\d+]].q[3] replaces [[C]].q
  store %r0, %y[%j]
  store %r1, %y[%j + 1]
  store %r2, %y[%j + 2]
  store %r3, %y[%j + 3]             ; next: STG.128 {{.*}} r64=[[D]].q
  ret
}
; rule: concat_four_words, split_word

; A word that is made before the others, and read afterwards too, is read in the quad. The order of the words does not matter.
kernel @backwards(%x: in i32, %y: out i32 align 8, %z: out i32) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %a = load %x[%i]                  ; check: LDG
  %b = add.i32 %a, %j               ; next: LEA
  %c = xor.i32 %b, %a               ; next: LOP3
  store %c, %y[%j]
  store %b, %y[%j + 1]              ; next: STG.64
  %d = mul.i32 %b, %c               ; next: IMAD
  store %d, %z[%i]                  ; next: STG
  ret
}
; never: MOV

; A word that is passed to a block has a register of its own, as one that comes from another block has. One that is stored twice
; is moved once.
kernel @own(%x: in i32 align 8, %y: out i32 align 16, %n: i32) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = shl.i32 %i, %two
  %a = load %x[%i]
  %b = add.i32 %a, %i
  br ^loop(%a)
^loop(%k: i32):
  %c = xor.i32 %b, %k               ; check: LOP3 {{.*}} rd=[[C:v\d+]] def
  %d = add.i32 %c, %n               ; next: IADD3 {{.*}} rd=[[D:v\d+]].q[2] def
  store %b, %y[%j]                  ; next: MOV {{.*}} rd=[[E:v\d+]].q replaces [[D]].q
  store %c, %y[%j + 1]              ; next: MOV {{.*}} r32=[[C]], rd=[[F:v\d+]].q[1] replaces [[E]].q
  store %d, %y[%j + 2]
  store %d, %y[%j + 3]              ; next: MOV {{.*}} r32=[[F]].q[2], rd={{v\d+}}.q[3] replaces [[F]].q
                                    ; next: STG.128
  %more = icmp.lt_u.i32 %c, %n      ; next: ISETP{{.*}} ra=[[C]]
  br_if %more, ^loop(%c), ^done
^done:
  ret
}
