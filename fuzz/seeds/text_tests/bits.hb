; test: lower
; Algebra of bits and shifts.
kernel @shifts_by_zero(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32,
    %out5: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 0
  %shl = shl.i32 %a, %k
  %k2 = const.i32 0
  %shr_s = shr_s.i32 %a, %k2
  %k3 = const.i32 0
  %shr_u = shr_u.i32 %a, %k3
  %k4 = const.i32 0
  %round_shr_s = round_shr_s.i32 %a, %k4
  %k5 = const.i32 0
  %round_shr_u = round_shr_u.i32 %a, %k5
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  store %round_shr_s, %out4[%i]
  store %round_shr_u, %out5[%i]
  ret
}
;= kernel @shifts_by_zero(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32, %out5: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   store %a, %out1[%i]
;=   store %a, %out2[%i]
;=   store %a, %out3[%i]
;=   store %a, %out4[%i]
;=   store %a, %out5[%i]
;=   ret
;= }
; rule: shl_zero, shr_s_zero, shr_u_zero, round_shr_s_zero, round_shr_u_zero

