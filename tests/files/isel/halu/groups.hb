; test: isel halu
; Barriers, of all and of some.
kernel @barriers(%y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one       ; check: ISETP.EQ
  barrier                         ; next: BAR.SYNC 0x0
  barrier.unaligned %one          ; next: BAR.SYNC.UNALIGNED 0x1
  barrier %one, %n                ; check: BAR.SYNC 0x1, 
  barrier_arrive %one, %n         ; check: BAR.ARV 0x1, 
  %a = barrier_count %p           ; next: BAR.RED.POPC
  %b = barrier_any.unaligned %p, %one, %n ; check: BAR.RED.OR.UNALIGNED
  %c = select.i32 %b, %a, %l
  store %c, %y[%l]
  ret
}

; An exchange that nothing uses is made all the same, and none stands for another.
kernel @exchanges(%y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %c = const.i32 31
  %all = const.i32 -1
  %a = subgroup_shuffle_xor.i32 %l, %one, %c, %all  ; check: SHFL.BFLY {{.*}}, 0x1, 0x1f, 0xffffffff
  %b = subgroup_shuffle_xor.i32 %l, %one, %c, %all  ; check: SHFL.BFLY {{.*}}, 0x1, 0x1f, 0xffffffff
  %r = subgroup_reduce_min_s %l, %all               ; check: REDUX.MIN.S32 {{.*}}, 0xffffffff
  subgroup_barrier %all                             ; check: WARPSYNC 0xffffffff
  store %a, %y[%l]
  ret
}

; Arrays, by their addresses in their spaces; an atomic access without a use of its result gives none.
kernel @memory(%x: inout i32, %y: out i32) {
  shared %s: i32[64]
  scratch %t: i32[8]
^entry:
  %l = local_id
  store %l, %s[%l]                ; check: STS [
  store %l, %t[3]                 ; check: STL [RZ+0xc]
  atomic_add %l, %x[0]            ; check: ATOMG.ADD RZ,
  atomic_add.release.group %l, %s[1] ; check: ATOMS.ADD.RELEASE.CTA RZ, [RZ+0x4]
  atomic_add.acquire %l, %x[1]    ; check: ATOMG.ADD.ACQUIRE RZ,
  %a = atomic_exchange %l, %x[2]  ; check: ATOMG.EXCH
  fence.acq_rel.device            ; check: MEMBAR ;
  %b = atomic_load.acquire.system %x[3] ; check: LDG.ACQUIRE.SYS
  %d = load %s[%l]                ; check: LDS
  %e = load %t[3]                 ; check: LDL
  %f = add.i32 %a, %b
  %g = add.i32 %d, %e
  %h = add.i32 %f, %g
  store %h, %y[%l]
  ret
}

; A fence between accesses that no other item makes is nothing; the number in the warp is part of that in the group.
kernel @alone(%y: out i32) {
^entry:
  %l = lane_id                    ; check: LOP3
  fence.seq_cst.device            ; not: MEMBAR
  store %l, %y[%l]                ; check: STG
  ret
}

; What is computed may be an address in any memory.
kernel @anywhere(%x: inout i32, %k: i64) {
  shared %s: i32[64]
^entry:
  %l = local_id
  %p = ptr_add %s, %k
  store.i32 %l, %p                  ; check: ST [{{.*}}.64]
  %a = atomic_exchange.i32 %l, %p   ; check: ATOM.EXCH
  store %a, %x[%l]                ; check: STG
  ret
}
