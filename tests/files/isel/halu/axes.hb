; test: isel halu
; Numbers are special registers, and counts words of constant bank 0.
kernel @places(%y: out i32) {
^entry:
  %i = item_id                ; check: S2R {{.*}}, SR_ITEM
  %x = item_id.x              ; check: S2R {{.*}}, SR_ITEM.X
  %l = local_id               ; check: S2R {{.*}}, SR_TID
  %m = local_id.y             ; check: S2R {{.*}}, SR_TID.Y
  %g = group_id.z             ; check: S2R {{.*}}, SR_CTAID.Z
  %s = group_size.x           ; check: c[0x0][0x10]
  %t = group_size             ; check: c[0x0][0x1c]
  %c = group_count.z          ; check: c[0x0][0x28]
  %d = group_count            ; check: c[0x0][0x2c]
  store %x, %y[%i]
  store %l, %y[%i + 1]
  store %m, %y[%i + 2]
  store %g, %y[%i + 3]
  store %s, %y[%i + 4]
  store %t, %y[%i + 5]
  store %c, %y[%i + 6]
  store %d, %y[%i + 7]
  ret
}
; rule: where_item, where_in_group, where_group, where_group_size, where_group_count
