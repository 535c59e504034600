; test: isel halu
; Each op by which items meet, in each of its forms.

kernel @barriers(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  barrier
  barrier %one
  barrier %one, %n
  barrier_arrive %one, %n
  ret
}
; rule: meet_barrier, meet_barrier_id, meet_barrier_count, meet_arrive

kernel @counts(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  %a = barrier_count %p
  %b = barrier_count %p, %one
  %d = barrier_count %p, %one, %n
  ret
}
; rule: meet_barrier_counts, meet_barrier_counts_id, meet_barrier_counts_of

kernel @answers_of_all(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  %a = barrier_all %p
  %b = barrier_all %p, %one
  %d = barrier_all %p, %one, %n
  ret
}
; rule: meet_barrier_alls, meet_barrier_alls_id, meet_barrier_alls_of

kernel @answers_of_any(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  %a = barrier_any %p
  %b = barrier_any %p, %one
  %d = barrier_any %p, %one, %n
  ret
}
; rule: meet_barrier_anys, meet_barrier_anys_id, meet_barrier_anys_of

kernel @shuffles(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  %r0 = subgroup_shuffle.i32 %l, %one, %c, %all
  %r1 = subgroup_shuffle_up.i32 %l, %one, %c, %all
  %r2 = subgroup_shuffle_down.i32 %l, %one, %c, %all
  %r3 = subgroup_shuffle_xor.i32 %l, %one, %c, %all
  ret
}
; rule: meet_shuffle, meet_shuffle_up, meet_shuffle_down, meet_shuffle_xor

kernel @votes(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  %a = vote_all %p, %all
  %b = vote_any %p, %all
  %d = vote_uniform %p, %all
  %e = ballot %p, %all
  ret
}
; rule: meet_vote_all, meet_vote_any, meet_vote_uniform, meet_ballot

kernel @matches(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  %a = match_any.i32 %l, %all
  %b = match_all.i32 %l, %all
  ret
}
; rule: meet_match_any, meet_match_all

kernel @reductions(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  %r0 = subgroup_reduce_add %l, %all
  %r1 = subgroup_reduce_min_s %l, %all
  %r2 = subgroup_reduce_min_u %l, %all
  %r3 = subgroup_reduce_max_s %l, %all
  %r4 = subgroup_reduce_max_u %l, %all
  %r5 = subgroup_reduce_and %l, %all
  %r6 = subgroup_reduce_or %l, %all
  %r7 = subgroup_reduce_xor %l, %all
  ret
}
; rule: meet_reduce_add, meet_reduce_min_s, meet_reduce_min_u, meet_reduce_max_s, meet_reduce_max_u, meet_reduce_and, meet_reduce_or, meet_reduce_xor

kernel @others(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  subgroup_barrier %all
  %a = elect %all
  %b = active_mask
  fence.seq_cst.system
  %d = lane_id
  store %d, %y[%l]
  ret
}
; rule: meet_warp, meet_elect, meet_active, meet_fence, where_in_warp

kernel @ordered(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  %a = atomic_load.acquire %x
  %b = atomic_load %x[%l]
  atomic_store.release %l, %x
  atomic_store %l, %x[%l]
  ret
}
; rule: atomic_load, atomic_load_index, atomic_store, atomic_store_index

kernel @of_add(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_add %l, %x
  atomic_add %l, %x[%l]
  ret
}
; rule: atomic_add, atomic_add_index

kernel @of_sub(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_sub %l, %x
  atomic_sub %l, %x[%l]
  ret
}
; rule: atomic_sub, atomic_sub_index

kernel @of_min_s(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_min_s %l, %x
  atomic_min_s %l, %x[%l]
  ret
}
; rule: atomic_min_s, atomic_min_s_index

kernel @of_min_u(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_min_u %l, %x
  atomic_min_u %l, %x[%l]
  ret
}
; rule: atomic_min_u, atomic_min_u_index

kernel @of_max_s(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_max_s %l, %x
  atomic_max_s %l, %x[%l]
  ret
}
; rule: atomic_max_s, atomic_max_s_index

kernel @of_max_u(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_max_u %l, %x
  atomic_max_u %l, %x[%l]
  ret
}
; rule: atomic_max_u, atomic_max_u_index

kernel @of_and(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_and %l, %x
  atomic_and %l, %x[%l]
  ret
}
; rule: atomic_and, atomic_and_index

kernel @of_or(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_or %l, %x
  atomic_or %l, %x[%l]
  ret
}
; rule: atomic_or, atomic_or_index

kernel @of_xor(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_xor %l, %x
  atomic_xor %l, %x[%l]
  ret
}
; rule: atomic_xor, atomic_xor_index

kernel @of_exchange(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_exchange %l, %x
  atomic_exchange %l, %x[%l]
  ret
}
; rule: atomic_exchange, atomic_exchange_index

kernel @of_inc(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_inc %l, %x
  atomic_inc %l, %x[%l]
  ret
}
; rule: atomic_inc, atomic_inc_index

kernel @of_dec(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_dec %l, %x
  atomic_dec %l, %x[%l]
  ret
}
; rule: atomic_dec, atomic_dec_index

kernel @of_compare_exchange(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  atomic_compare_exchange %l, %one, %x
  atomic_compare_exchange %l, %one, %x[%l]
  ret
}
; rule: atomic_compare_exchange, atomic_compare_exchange_index

kernel @of_fadd(%x: inout f16x2, %y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one
  %f = const.f16x2 1.0
  atomic_fadd %f, %x
  atomic_fadd %f, %x[%l]
  ret
}
; rule: atomic_fadd, atomic_fadd_index

kernel @of_128_bits(%x: inout i8x16, %y: out i8x16) {
^entry:
  %l = local_id
  %a = load %y[%l]
  %b = atomic_exchange.acquire %a, %x[%l]
  %c = atomic_compare_exchange.acq_rel %b, %a, %x[%l]
  store %c, %y[%l]
  ret
}
;= @of_128_bits
;= b0():
;=     ULDC.64 UR0, c[0x0][0x168] ;                                              // 1:8
;=     ULDC.64 UR2, c[0x0][0x160] ;                                              // 1:8
;=     S2R RZ, SR_TID ;                          rd=v9 def                       // 3:3
;=     LEA RZ, RZ, RZ, 0x4 ;                     ra=v9, rd=v8 def                // 3:3
;=     LDG.128 RZ, [RZ.U32+UR0] ;                ra=v8, rd=v6.q def              // 4:3
;=     ATOMG.128.EXCH.ACQUIRE RZ, [RZ.U32+UR2], RZ ;  ra=v8, r64=v6.q, rd=v5.q def  // 5:3
;=     ATOMG.CAS.128.ACQ_REL RZ, [RZ.U32+UR2], RZ, RZ ;  ra=v8, r64=v5.q, r72=v6.q, rd=v4.q def  // 6:3
;=     STG.128 [RZ.U32+UR0], RZ ;                ra=v8, r64=v4.q                 // 7:3
;=     exit                                                                      // 8:3
