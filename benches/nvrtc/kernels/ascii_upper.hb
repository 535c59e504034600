; Text in ASCII to upper case. Each item converts four characters.
kernel ascii_upper(text: in i8x4, upper: out i8x4) {
  let i = item_id()
  let v = text[i]
  let is_lower = (v >=_u 97) & (v <=_u 122)
  upper[i] = select(is_lower, v ^ 0x20202020, v)
}
; run: halu, ptx: @ascii_upper items=256 text=random(256, 1) upper=zeros(256)
