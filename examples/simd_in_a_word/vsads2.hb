; `__vsads2` of CUDA: sum of the absolute differences of two pairs of signed half-words.
kernel vsads2(a: in i16x2, b: in i16x2, result: out i32) {
  let i = item_id()
  result[i] = sad_s(a[i], b[i], 0)
}

; run: halu, vp1, ptx: @vsads2 items=32 a=[0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00] b=[0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00ff0001, 0x80007fff, 0xff008001, 0x0000ffff, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x80007fff, 0xff008001, 0x0000ffff, 0x00ff0001, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0xff008001, 0x0000ffff, 0x00ff0001, 0x80007fff, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0x0000ffff, 0x00ff0001, 0x80007fff, 0xff008001] result=zeros(32) -> result=[0, 0, 0, 0, 255, 98047, 32512, 256, 33021, 98557, 65278, 258, 65536, 66045, 65534, 513, 65536, 33279, 65536, 33279, 33024, 33023, 65791, 65790, 258, 33021, 98557, 65278, 2, 32766, 65536, 32766]
; run: halu, vp1, ptx: @vsads2 items=1001 a=random(1001, 801) b=random(1001, 802) result=zeros(1001)
