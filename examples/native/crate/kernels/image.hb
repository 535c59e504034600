; Adds `by` to four grey pixels, saturating at white
kernel brighten(by: i8x4, pixels: in i8x4, lighter: out i8x4) {
  let i = item_id()
  lighter[i] = add_sat_u(pixels[i], by)
}
; run: all: @brighten items=2 by=40 pixels=[[0, 100, 215, 216], 255] -> lighter=[[40, 140, 255, 255], 255]
