; test: isel ptx
; Numbers along an axis are special registers, and that of the item is made of three.
kernel @places(%y: out i32) {
^entry:
  %i = item_id.x              ; check: %ctaid.x
                              ; check: %ntid.x
                              ; check: %tid.x
                              ; check: mad.lo.u32
  %l = local_id.y             ; check: %tid.y
  %g = group_id.z             ; check: %ctaid.z
  %s = group_size.z           ; check: %ntid.z
  %c = group_count.y          ; check: %nctaid.y
  store %l, %y[%i]
  store %g, %y[%i + 1]
  store %s, %y[%i + 2]
  store %c, %y[%i + 3]
  ret
}
; rule: where_item, where_in_group, where_group, where_group_size, where_group_count
