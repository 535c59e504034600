; test: refuse ptx sm=75
; What items meet by that SM versions below others have not.
kernel @groups(%x: inout bf16x2, %y: inout i8x16) {
^entry:
  %l = local_id
  %all = const.i32 -1
  %a = subgroup_reduce_add %l, %all
  %b = elect %all
  %h = const.bf16x2 1.0
  atomic_fadd %h, %x[0]
  fence.acquire.device
  %v = load %y[0]
  %w = atomic_exchange %v, %y[0]
  store %w, %y[1]
  ret
}
;= %a = subgroup_reduce_add %l, %all
;=     ptx cannot do `subgroup_reduce_add`: the instruction needs sm_80 or above
;= %b = elect %all
;=     ptx cannot do `elect`: the instruction needs sm_90 or above
;= atomic_fadd %h, %x[0]
;=     ptx cannot do `atomic_fadd.bf16x2`: the instruction needs sm_90 or above
;= fence.acquire.device
;=     ptx cannot do `fence`: the instruction needs sm_90 or above
;= %w = atomic_exchange %v, %y[0]
;=     ptx cannot do `atomic_exchange.i8x16`: the instruction needs sm_90 or above
