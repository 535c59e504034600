; Hamming distance of binary descriptors of 256 bits to one descriptor. Each item computes a distance.
kernel hamming(query: in i32, descriptors: in i32, distance: out i32) {
  let i = item_id()
  var sum = 0
  unroll for k in 0..8 { sum += popcount(query[k] ^ descriptors[8 * i + k]) }
  distance[i] = sum
}
; run: halu, ptx: @hamming items=128 query=random(8, 1) descriptors=random(1024, 2) distance=zeros(128)
