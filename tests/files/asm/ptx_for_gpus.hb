; test: asm ptx

; Machines make the canonical NaN where others fold no sign, so signs that are stored are changed bit by bit.
kernel @signs_of_nans(%a_in: in f16x2, %b_in: in bf16x2, %c_in: in f32, %out1: out f16x2, %out2: out bf16x2, %out3: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = fneg.f16x2 %a       ; check: xor.b32
  %y = fabs.bf16x2 %b      ; check: and.b32
  %z = fneg.f32 %c         ; check: xor.b32
  store %x, %out1[%i]
  store %y, %out2[%i]
  store %z, %out3[%i]
  ret
}
; never: neg
; never: abs

; What others fold goes on as it is.
kernel @signs_that_are_folded(%a_in: in f16x2, %b_in: in bf16x2, %c_in: in f32, %out1: out f16x2, %out2: out bf16x2, %out3: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = fneg.f16x2 %a       ; check: neg.f16x2
  %y = fabs.bf16x2 %b      ; check: abs.bf16x2
  %z = fneg.f32 %c         ; check: neg.f32
  %p = ffma.f16x2 %x, %a, %a
  %q = fmax.bf16x2 %y, %b
  %r = ffma.f32 %z, %c, %c
  store %p, %out1[%i]
  store %q, %out2[%i]
  store %r, %out3[%i]
  ret
}
; never: xor

; Local memory of a GPU begins as anything; what an item loads without having stored it is cleared before.
kernel @cleared(%n: i32, %y: out i32) {
  scratch %a: i32[2]
  scratch %b: i16[3]
^entry:
  %i = item_id                    ; check: st.local.b32 [a], 0;
                                  ; next: st.local.b32 [a+4], 0;
                                  ; next: st.local.b16 [b], 0;
                                  ; next: st.local.b16 [b+2], 0;
                                  ; next: st.local.b16 [b+4], 0;
  store %i, %a[%n]
  %v = load %a
  %w = load %b[1]
  %x = zext.i32 %w
  %s = add.i32 %v, %x
  store %s, %y[%i]
  ret
}

kernel @stored_first(%y: out i32) {
  scratch %a: i32[2]
^entry:
  %i = item_id
  store %i, %a[1]                 ; check: st.local.b32
  %c = icmp.eq.i32 %i, %i
  br_if %c, ^one, ^other
^one:
  %v = load %a[1]
  store %v, %y[%i]
  ret
^other:
  ret
}
; never: 0;

; Whoever comes by the other way has not stored.
kernel @stored_on_one_way(%n: i32, %y: out i32) {
  scratch %a: i32[1]
^entry:
  %i = item_id                    ; check: st.local.b32 [a], 0;
  %c = icmp.lt_s.i32 %i, %n
  br_if %c, ^store, ^load
^store:
  store %i, %a
  br ^load
^load:
  %v = load %a
  store %v, %y[%i]
  ret
}

; A part that was not stored is cleared with the whole.
kernel @stored_in_part(%y: out i32) {
  scratch %a: i16[2]
^entry:
  %i = item_id                    ; check: st.local.b16 [a], 0;
  %h = trunc.i16 %i
  store %h, %a
  %v = load %a[1]
  %w = zext.i32 %v
  store %w, %y[%i]
  ret
}
