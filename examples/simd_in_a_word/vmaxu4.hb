; `__vmaxu4` of CUDA: the greater of two bytes as unsigned numbers.
kernel @vmaxu4(%a: in i8x4, %b: in i8x4, %result: out i8x4) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %r = max_u.i8x4 %x, %y
  store %r, %result[%i]
  ret
}

; run: halu, vp1, ptx: @vmaxu4 items=16 a=[0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180, 0x7f5a0100, 0xfffe8180] b=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0x00fffe81, 0x81807f5a, 0x0100fffe, 0xfe81807f, 0x5a0100ff, 0xfffe8180, 0x7f5a0100, 0x00fffe81, 0x807f5a01, 0x0100fffe, 0x81807f5a, 0x5a0100ff, 0xfe81807f] result=zeros(16) -> result=[0x7f5a0100, 0xfffe8180, 0x807f5a01, 0xfffffe81, 0x81807f5a, 0xfffefffe, 0xfe81807f, 0xfffe81ff, 0xfffe8180, 0xfffe8180, 0x7ffffe81, 0xfffe8180, 0x7f5afffe, 0xfffe8180, 0x7f5a01ff, 0xfffe8180]
; run: halu, vp1, ptx: @vmaxu4 items=1001 a=random(1001, 231) b=random(1001, 232) result=zeros(1001)
