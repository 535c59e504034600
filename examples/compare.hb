; Comparisons of two grey images, pixel by pixel: white if the condition is true, else
; black. The result is a mask for other images. Each item compares four pixels in one word.
kernel equal(a: in i8x4, b: in i8x4, mask: out i8x4) {
  let i = item_id()
  mask[i] = mask_expand(a[i] == b[i])
}

kernel different(a: in i8x4, b: in i8x4, mask: out i8x4) {
  let i = item_id()
  mask[i] = mask_expand(a[i] != b[i])
}

kernel greater(a: in i8x4, b: in i8x4, mask: out i8x4) {
  let i = item_id()
  mask[i] = mask_expand(a[i] >_u b[i])
}

kernel at_least(a: in i8x4, b: in i8x4, mask: out i8x4) {
  let i = item_id()
  mask[i] = mask_expand(a[i] >=_u b[i])
}

kernel less(a: in i8x4, b: in i8x4, mask: out i8x4) {
  let i = item_id()
  mask[i] = mask_expand(a[i] <_u b[i])
}

kernel at_most(a: in i8x4, b: in i8x4, mask: out i8x4) {
  let i = item_id()
  mask[i] = mask_expand(a[i] <=_u b[i])
}

; run: halu, vp1, ptx: @equal items=2 a=[[0, 255, 10, 128], [7, 200, 100, 1]] b=[[255, 0, 13, 127], [8, 100, 155, 0]] mask=zeros(2) -> mask=[[0, 0, 0, 0], [0, 0, 0, 0]]
; run: halu, vp1, ptx: @different items=2 a=[[0, 255, 10, 128], [7, 200, 100, 1]] b=[[255, 0, 13, 127], [8, 100, 155, 0]] mask=zeros(2) -> mask=[[255, 255, 255, 255], [255, 255, 255, 255]]
; run: halu, vp1, ptx: @greater items=2 a=[[0, 255, 10, 128], [7, 200, 100, 1]] b=[[255, 0, 13, 127], [8, 100, 155, 0]] mask=zeros(2) -> mask=[[0, 255, 0, 255], [0, 255, 0, 255]]
; run: halu, vp1, ptx: @at_least items=2 a=[[0, 255, 10, 128], [7, 200, 100, 1]] b=[[255, 0, 13, 127], [8, 100, 155, 0]] mask=zeros(2) -> mask=[[0, 255, 0, 255], [0, 255, 0, 255]]
; run: halu, vp1, ptx: @less items=2 a=[[0, 255, 10, 128], [7, 200, 100, 1]] b=[[255, 0, 13, 127], [8, 100, 155, 0]] mask=zeros(2) -> mask=[[255, 0, 255, 0], [255, 0, 255, 0]]
; run: halu, vp1, ptx: @at_most items=2 a=[[0, 255, 10, 128], [7, 200, 100, 1]] b=[[255, 0, 13, 127], [8, 100, 155, 0]] mask=zeros(2) -> mask=[[255, 0, 255, 0], [255, 0, 255, 0]]
; run: halu, vp1, ptx: @equal items=1001 a=random(1001, 331) b=random(1001, 332) mask=zeros(1001)
; run: halu, vp1, ptx: @different items=1001 a=random(1001, 333) b=random(1001, 334) mask=zeros(1001)
; run: halu, vp1, ptx: @greater items=1001 a=random(1001, 335) b=random(1001, 336) mask=zeros(1001)
; run: halu, vp1, ptx: @at_least items=1001 a=random(1001, 337) b=random(1001, 338) mask=zeros(1001)
; run: halu, vp1, ptx: @less items=1001 a=random(1001, 339) b=random(1001, 340) mask=zeros(1001)
; run: halu, vp1, ptx: @at_most items=1001 a=random(1001, 341) b=random(1001, 342) mask=zeros(1001)

; A photograph of 128 by 128 pixels, and the same photograph moved by one pixel.
; run: halu, vp1, ptx: @equal items=4096 a=@chelsea.npy b=@chelsea-moved.npy mask=zeros(4096)
; run: halu, vp1, ptx: @different items=4096 a=@chelsea.npy b=@chelsea-moved.npy mask=zeros(4096)
; run: halu, vp1, ptx: @greater items=4096 a=@chelsea.npy b=@chelsea-moved.npy mask=zeros(4096)
; run: halu, vp1, ptx: @at_least items=4096 a=@chelsea.npy b=@chelsea-moved.npy mask=zeros(4096)
; run: halu, vp1, ptx: @less items=4096 a=@chelsea.npy b=@chelsea-moved.npy mask=zeros(4096)
; run: halu, vp1, ptx: @at_most items=4096 a=@chelsea.npy b=@chelsea-moved.npy mask=zeros(4096)
