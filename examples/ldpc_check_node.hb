; A check node of an LDPC decoder by the min-sum rule. The bits of a check have an even sum; so each bit is told by the
; others: its sign is the product of their signs, and how sure that is the least of how sure they are. Two passes do it
; for all bits at once: the first finds the least and the second least magnitude and the product of all signs, the second
; leaves out each bit's own. Messages are log-likelihoods in signed bytes, and -128 is as sure as 127. An item takes four
; checks in a word.
;
; Of `degree` bits, at least one, the message of bit k to item i is word i + k * stride, and so is the answer.
kernel @ldpc_check_node(%degree: i32, %stride: i32, %from_bits: in i8x4, %to_bits: out i8x4) {
^entry:
  %i = item_id
  %none = const.i8x4 0
  %most = const.i8x4 127
  %zero = const.i32 0
  %one = const.i32 1
  br ^gather(%zero, %i, %most, %most, %none)
^gather(%k: i32, %at: i32, %least: i8x4, %second: i8x4, %signs: i8x4):
  %m = load %from_bits[%at]
  %minus = sub_sat_s.i8x4 %none, %m
  %size = max_s.i8x4 %m, %minus
  %greater = max_s.i8x4 %least, %size
  %second1 = min_s.i8x4 %second, %greater
  %least1 = min_s.i8x4 %least, %size
  %signs1 = xor.i8x4 %signs, %m
  %k1 = add.i32 %k, %one
  %at1 = add.i32 %at, %stride
  %more = icmp.lt_s.i32 %k1, %degree
  br_if %more, ^gather(%k1, %at1, %least1, %second1, %signs1), ^known
^known:
  br ^answer(%zero, %i)
^answer(%j: i32, %to: i32):
  %own = load %from_bits[%to]
  %opposite = sub_sat_s.i8x4 %none, %own
  %own_size = max_s.i8x4 %own, %opposite
  %is_least = icmp.eq.i8x4 %own_size, %least1
  %others = select.i8x4 %is_least, %second1, %least1
  %other_signs = xor.i8x4 %signs1, %own
  %negative = icmp.lt_s.i8x4 %other_signs, %none
  %reversed = neg.i8x4 %others
  %answer = select.i8x4 %negative, %reversed, %others
  store %answer, %to_bits[%to]
  %j1 = add.i32 %j, %one
  %to1 = add.i32 %to, %stride
  %on = icmp.lt_s.i32 %j1, %degree
  br_if %on, ^answer(%j1, %to1), ^done
^done:
  ret
}

; run: halu, vp1, ptx: @ldpc_check_node items=2 degree=4 stride=2 from_bits=[[127, -128, 1, 0], [-37, 0, -30, 58], [3, -128, -1, 0], [46, 77, -38, 96], [58, 33, 58, -20], [76, -15, 5, -48], [85, 87, 56, 68], [-44, 52, 25, -49]] to_bits=zeros(8) -> to_bits=[[3, -33, -1, 0], [-44, -15, -5, 48], [58, -33, 1, 0], [37, 0, -5, 48], [3, 87, -1, 0], [37, 0, 25, -49], [3, 33, -1, 0], [-37, 0, 5, -48]]
; run: halu, vp1, ptx: @ldpc_check_node items=301 degree=6 stride=301 from_bits=random(1806, 251) to_bits=zeros(1806)
