; A check node of an LDPC decoder by the min-sum rule. The bits of a check have an even sum; so each bit is told by the
; others: its sign is the product of their signs, and how sure that is the least of how sure they are. Two passes do it
; for all bits at once: the first finds the least and the second least magnitude and the product of all signs, the second
; leaves out each bit's own. Messages are log-likelihoods in signed bytes, and -128 is as sure as 127. An item takes four
; checks in a word.
;
; Of `degree` bits, at least one, the message of bit k to item i is word i + k * stride, and so is the answer.

fn size_of(m: i8x4) -> i8x4 { max_s(m, sub_sat_s(0, m)) }

kernel ldpc_check_node(degree: i32, stride: i32, from_bits: in i8x4, to_bits: out i8x4) {
  let i = item_id()
  var (k, at, least, second, signs) = (0, i, 127i8x4, 127i8x4, 0i8x4)
  do {
    let m = from_bits[at]
    let size = size_of(m)
    second = min_s(second, max_s(least, size))
    least = min_s(least, size)
    signs ^= m
    at += stride
    k += 1
  } while k <_s degree
  var (j, to) = (0, i)
  do {
    let own = from_bits[to]
    let others = select(size_of(own) == least, second, least)
    to_bits[to] = select(signs ^ own <_s 0, -others, others)
    to += stride
    j += 1
  } while j <_s degree
}

; run: halu, vp1, ptx: @ldpc_check_node items=2 degree=4 stride=2 from_bits=[[127, -128, 1, 0], [-37, 0, -30, 58], [3, -128, -1, 0], [46, 77, -38, 96], [58, 33, 58, -20], [76, -15, 5, -48], [85, 87, 56, 68], [-44, 52, 25, -49]] to_bits=zeros(8) -> to_bits=[[3, -33, -1, 0], [-44, -15, -5, 48], [58, -33, 1, 0], [37, 0, -5, 48], [3, 87, -1, 0], [37, 0, 25, -49], [3, 33, -1, 0], [-37, 0, 5, -48]]
; run: halu, vp1, ptx: @ldpc_check_node items=301 degree=6 stride=301 from_bits=random(1806, 251) to_bits=zeros(1806)
