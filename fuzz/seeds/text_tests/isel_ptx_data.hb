; test: isel ptx
; A buffer with contents is a variable of the module, whose address no parameter gives.
kernel @look_up(%x: in i32, %out: out i32, %table: in i16 align 4 = [10, -20, 30, 40]) {
^entry:                   ; check: mov.u64 {{.*}}, table
  %i = item_id
  %xi = load %x[%i]
  %v = load %table[%xi]   ; check: ld.global.nc.u16
  %w = sext.i32 %v
  store %w, %out[%i]
  ret
}
; never: [table
; run: ir, halu, ptx: @look_up items=3 x=[0, 1, 3] out=zeros(3) -> out=[10, -20, 40]
