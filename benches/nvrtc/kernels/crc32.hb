; CRC-32 of records of 16 bytes, four bits a step. Each item computes a record.
kernel crc32(records: in i32, sums: out i32,
  table: in i32 = [0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c]) {
  let i = item_id()
  var crc = 0xffffffff_i32
  unroll for k in 0..4 {
    crc ^= records[4 * i + k]
    unroll for digit in 0..8 { crc = table[crc & 15] ^ crc >>_u 4 }
  }
  sums[i] = !crc
}
; run: halu, ptx: @crc32 items=128 records=random(512, 1) sums=zeros(128)
