; Check node of an LDPC decoder by the min-sum rule. The bits of a check have even parity. The message
; to a bit has the product of the signs of the other bits, and the minimum of their magnitudes. Two
; passes compute it for all bits: the first finds the two smallest magnitudes and the product of all
; signs, and the second removes the own contribution of each bit. Messages are log-likelihood ratios
; in signed bytes; -128 has magnitude 127. Each item computes four checks in one word.
;
; There are `degree` bits, at least 1. The message of bit k to item i, and the answer, are word i + k * stride.

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
