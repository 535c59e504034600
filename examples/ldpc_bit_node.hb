; Bit node of an LDPC decoder, as used by 5G base stations. The belief in a bit is the sum of the channel value and
; the messages of all checks of the bit. The node sends each check this sum without the message of that check.
; Beliefs are log-likelihood ratios in saturating signed bytes. Each item computes four bits of the code in one word.
;
; There are `degree` checks, at least 1. The message of check k to item i, and the answer, are word i + k * stride.
kernel ldpc_bit_node(degree: i32, stride: i32, channel: in i8x4, from_checks: in i8x4, to_checks: out i8x4, belief: out i8x4) {
  let i = item_id()
  var (k, at, sum) = (0, i, channel[i])
  do {
    sum = add_sat_s(sum, from_checks[at])
    at += stride
    k += 1
  } while k <_s degree
  belief[i] = sum
  var (j, to) = (0, i)
  do {
    to_checks[to] = sub_sat_s(sum, from_checks[to])
    to += stride
    j += 1
  } while j <_s degree
}

; run: halu, vp1, ptx: @ldpc_bit_node items=2 degree=3 stride=2 channel=[[-91, 26, 10, -90], [-17, 57, -104, -64]] from_checks=[[127, -128, 1, 0], [24, 20, 11, -29], [40, 25, 33, -17], [-57, 36, 19, -17], [-31, 20, 15, -13], [35, -52, 3, -59]] to_checks=zeros(6) belief=zeros(2) -> to_checks=[[-82, 71, 58, -120], [-39, 41, -82, -99], [5, -82, 26, -103], [42, 25, -90, -111], [76, -77, 44, -107], [-50, 113, -74, -69]] belief=[[45, -57, 59, -120], [-15, 61, -71, -128]]
; run: halu, vp1, ptx: @ldpc_bit_node items=301 degree=5 stride=301 channel=random(301, 241) from_checks=random(1505, 242) to_checks=zeros(1505) belief=zeros(301)
