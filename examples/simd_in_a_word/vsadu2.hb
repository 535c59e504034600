; `__vsadu2` of CUDA: sum of the absolute differences of two pairs of unsigned half-words.
kernel vsadu2(a: in i16x2, b: in i16x2, result: out i32) {
  let i = item_id()
  result[i] = sad_u(a[i], b[i], 0)
}

; run: halu, vp1, ptx: @vsadu2 items=32 a=[0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00] b=[0x00010000, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00ff0001, 0x80007fff, 0xff008001, 0x0000ffff, 0x7fff00ff, 0x80018000, 0xffffff00, 0x00010000, 0x80007fff, 0xff008001, 0x0000ffff, 0x00ff0001, 0x80018000, 0xffffff00, 0x00010000, 0x7fff00ff, 0xff008001, 0x0000ffff, 0x00ff0001, 0x80007fff, 0xffffff00, 0x00010000, 0x7fff00ff, 0x80018000, 0x0000ffff, 0x00ff0001, 0x80007fff, 0xff008001] result=zeros(32) -> result=[0, 0, 0, 0, 255, 32513, 32512, 65790, 33021, 32515, 65278, 130814, 65534, 65027, 65536, 130559, 65536, 97793, 65536, 97793, 98048, 98047, 65281, 65280, 130814, 33021, 32515, 65278, 65536, 32766, 2, 32766]
; run: halu, vp1, ptx: @vsadu2 items=1001 a=random(1001, 821) b=random(1001, 822) result=zeros(1001)
