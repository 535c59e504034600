; run: halu, vp1, ptx: @k items=3 a=[1, -2.5, 0x3c00] b=zeros(4) c=zeros:i8x4:2 d=random(5, 7) e=[[1, 2], 0x40003c00] f=inf -> y=[nan, -0.0]
  %r = swizzle.i8x16 %a, %b     ; refuse: halu: swizzle
