; test: isel ptx
; A constant that is normal needs no flushing. With one a sum is never -0.
kernel @with_numbers(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.f16x2 1.5
  %p = fmul.ftz.f16x2 %a, %k       ; check: mul.rn.ftz.f16x2
                                   ; next: mul.rn.f16x2
                                   ; next: mul.rn.ftz.f16x2
  %d = fsub.relu.f16x2 %p, %k      ; check: fma.rn.relu.f16x2
  %r = ffma.ftz.f16x2 %d, %b, %k   ; check: fma.rn.ftz.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_flushed_number, half_fsub_number, half_ffma_number

; Other roundings are those of f32, a lane at a time.
kernel @directed(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = fadd.rm.f16x2 %a, %b         ; check: fma.rm.f32
                                    ; check: fma.rm.f32
  %d = fsub.rp.sat.f16x2 %s, %b     ; check: fma.rp.f32
                                    ; check: add.rn.sat.f16x2
  %r = ffma.rz.f16x2 %d, %b, %s     ; check: fma.rz.f32
  store %r, %out[%i]
  ret
}
; rule: half_fadd_directed, half_fsub_directed, half_ffma_directed, half_by_single_sat, half_lanes_by_single
; run: halu, ptx: @directed items=2 a_in=[[1, -1], [0.1, 1e-7]] b_in=[[6e-8, -6e-8], [nan, 3]] out=zeros(2)

; Zero where the truncated result is zero: `ftz` of instructions. The maximum with +0 that keeps NaN is their `relu`.
kernel @of_instructions(%a_in: in f16x2, %b_in: in f16x2, %c_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %k = const.f16x2 0
  %x1 = fmul.ftz.sat.f16x2 %a, %b
  %y1 = fmul.rz.ftz.f16x2 %a, %b
  %m1 = fset.neu.f16x2 %y1, %k
  %p = fmul.f16x2 %x1, %m1          ; check: mul.rn.ftz.sat.f16x2
  %x2 = ffma.ftz.f16x2 %p, %b, %c
  %y2 = ffma.rz.ftz.f16x2 %p, %b, %c
  %m2 = fset.neu.f16x2 %y2, %k
  %q = fmul.f16x2 %x2, %m2          ; check: fma.rn.ftz.f16x2
  %x3 = ffma.ftz.f16x2 %q, %b, %c
  %y3 = ffma.rz.ftz.f16x2 %q, %b, %c
  %m3 = fset.neu.f16x2 %y3, %k
  %z = fmul.f16x2 %x3, %m3
  %r = fmax.nan.f16x2 %z, %k        ; check: fma.rn.ftz.relu.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fmul_tiny, half_ffma_tiny, half_ffma_tiny_relu
; never: set
; run: halu, ptx: @of_instructions items=2 a_in=[[1, -1], [0.1, 1e-7]] b_in=[[0.00006, -0.5], [nan, 3]] c_in=[[-0.0, 1], [0, -0.0]] out=zeros(2)

kernel @narrowed(%a_in: in f32, %b_in: in f32, %out1: out f16x2, %out2: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.f16x2 0
  %x = fcvt.f16 %a
  %y = fcvt.f16 %b
  %z = concat.f16x2 %x, %y
  %r = fmax.nan.f16x2 %z, %k        ; check: cvt.rn.relu.f16x2.f32
  %l = const.f16 0
  %w = fcvt.rz.f16 %a
  %s = fmax.nan.f16 %w, %l          ; check: cvt.rz.relu.f16.f32
  store %r, %out1[%i]
  store %s, %out2[%i]
  ret
}
; rule: half_narrow_relu, half_narrow_pair_relu
; run: halu, ptx: @narrowed items=3 a_in=[-0.0, -1.0, 0.5] b_in=[1, -1e-20, nan] out1=zeros(3) out2=zeros(3) -> out1=[0x3c000000, 0.0, 0x7fff3800] out2=[0, 0, 0.5]
