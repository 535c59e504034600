; Lower-case hexadecimal digits of bytes. Each item writes the eight digits of four bytes.
fn digit(n: i8x4) -> i8x4 { select(n <_u 10, n + 48, n + 87) }

kernel hex_encode(data: in i8x4, text: out i8x4) {
  let i = item_id()
  let v = data[i]
  let (high, low) = (digit(v >>_u 4), digit(v & 15))
  text[2 * i] = shuffle(high, low, [0, 4, 1, 5])
  text[2 * i + 1] = shuffle(high, low, [2, 6, 3, 7])
}
; run: halu, ptx: @hex_encode items=256 data=random(256, 1) text=zeros(512)
