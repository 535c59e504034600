; test: isel ptx
; An index that is scaled in 64 bits: one wide product and a sum, whatever it is.
kernel @sum(%w: i32, %b: in i32, %out: out i32) {
^entry:
  %i = item_id
  %j = add.i32 %i, %w
  %r = load %b[%j wide + 3]  ; check: add.u32
                             ; next: mul.wide.u32 {{.*}}, 4
                             ; next: add.u64
                             ; next: ld.global.nc.b32 {{.*}}+12]
  store %r, %out[%i wide]
  ret
}
; rule: load_at_index, store_at_index
; never: shl, mov.b64
