; test: isel ptx sm=90
; Barriers, of all and of some.
kernel @barriers(%y: out i32) {
^entry:
  %l = local_id
  %one = const.i32 1
  %n = const.i32 64
  %p = icmp.eq.i32 %l, %one       ; check: setp.eq.u32
  barrier                         ; next: bar.sync 0
  barrier.unaligned %one          ; next: barrier.sync 1
  barrier %one, %n                ; next: bar.sync 1, 64
  barrier_arrive %one, %n         ; next: bar.arrive 1, 64
  %a = barrier_count %p           ; next: bar.red.popc.u32
  %b = barrier_any.unaligned %p, %one, %n ; next: barrier.red.or.pred
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
  %a = subgroup_shuffle_xor.i32 %l, %one, %c, %all  ; check: shfl.sync.bfly.b32 {{.*}}, 1, 31, 4294967295
  %b = subgroup_shuffle_xor.i32 %l, %one, %c, %all  ; next: shfl.sync.bfly.b32 {{.*}}, 1, 31, 4294967295
  %r = subgroup_reduce_min_s %l, %all               ; check: redux.sync.min.s32
  subgroup_barrier %all                             ; check: bar.warp.sync
  store %a, %y[%l]
  ret
}

; Arrays, by their addresses in their spaces; an atomic access without a use of its result gives none.
kernel @memory(%x: inout i32, %y: out i32) {
  shared %s: i32[64]
  scratch %t: i32[8]
^entry:
  %l = local_id
  store %l, %s[%l]                ; check: st.shared.b32
  store %l, %t[3]                 ; check: st.local.b32
  atomic_add %l, %x[0]            ; check: red.global.add.u32
  atomic_add.release.group %l, %s[1] ; check: red.release.cta.shared.add.u32
  atomic_add.acquire %l, %x[1]    ; check: atom.acquire.gpu.global.add.u32
  %a = atomic_exchange %l, %x[2]  ; check: atom.global.exch.b32
  fence.acq_rel.device            ; check: fence.acq_rel.gpu
  %b = atomic_load.acquire.system %x[3] ; check: ld.acquire.sys.global.b32
  %d = load %s[%l]                ; check: ld.shared.b32
  %e = load %t[3]                 ; check: ld.local.b32
  %f = add.i32 %a, %b
  %g = add.i32 %d, %e
  %h = add.i32 %f, %g
  store %h, %y[%l]
  ret
}
