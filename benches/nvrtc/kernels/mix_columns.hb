; The step MixColumns of AES: products by 2 and 3 in GF(256). Each item computes a column of four bytes.
fn twice(x: i8x4) -> i8x4 { x << 1 ^ select(x <_s 0, 0x1b1b1b1b, 0) }

; Returns the column, rotated by n bytes.
fn rotated(x: i8x4, n: const) -> i8x4 { shuffle(x, x, [n, n + 1, n + 2, n + 3]) }

kernel mix_columns(columns: in i8x4, mixed: out i8x4) {
  let i = item_id()
  let a = columns[i]
  let b = twice(a)
  mixed[i] = b ^ rotated(a ^ b, 1) ^ rotated(a, 2) ^ rotated(a, 3)
}
; run: halu, ptx: @mix_columns items=256 columns=random(256, 1) mixed=zeros(256)
