; test: isel halu
; An index that is scaled in 64 bits: one product and sum.
kernel @sum(%w: i32, %b: in i32, %out: out i32) {
^entry:
  %i = item_id
  %j = add.i32 %i, %w
  %r = load %b[%j wide + 3]  ; check: IMAD.WIDE
                             ; check: LDG
  store %r, %out[%i]
  ret
}
; rule: load_at_index
