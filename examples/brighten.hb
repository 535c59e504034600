; Brightens an image of 8-bit grey pixels: adds the same amount to every
; pixel, saturating at white. Each item computes four pixels in one word.
kernel @brighten(%by: i8x4, %pixels: in i8x4, %lighter: out i8x4) {
^entry:
  %i = item_id
  %p = load %pixels[%i]
  %r = add_sat_u.i8x4 %p, %by
  store %r, %lighter[%i]
  ret
}

; run: halu, vp1, ptx: @brighten items=2 by=40 pixels=[[0, 100, 215, 216], 255] -> lighter=[[40, 140, 255, 255], 255]
; run: halu, vp1, ptx: @brighten items=1000 by=0x01ff8000 pixels=random(1000, 6) lighter=zeros(1000)

; A photograph of 128 by 128 pixels.
; run: halu, vp1, ptx: @brighten items=4096 by=60 pixels=@chelsea.npy lighter=zeros(4096)
