; The bits of each byte in reverse order. Each item computes four bytes.
kernel reverse_bits(data: in i8x4, reversed: out i8x4) {
  let i = item_id()
  reversed[i] = bit_reverse(data[i])
}
; run: halu, ptx: @reverse_bits items=256 data=random(256, 1) reversed=zeros(256)
