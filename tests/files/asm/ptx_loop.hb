; test: asm ptx sm=90
; The exit does not read `m`, so its copy precedes the branch back.
kernel @falling(%x: in i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero, %zero, %zero)
^loop(%k: i32, %m: i32, %sum: i32):
  %v = load %x[%k]
  %t = max_s.i32 %m, %v
  %d = sub.i32 %t, %m
  %p = mul.i32 %d, %v
  %next_sum = add.i32 %sum, %p
  %next_k = add.i32 %k, %one
  %more = icmp.lt_u.i32 %next_k, %n
  br_if %more, ^loop(%next_k, %t, %next_sum), ^done
^done:
  store %next_sum, %y[%i]
  ret
}
;= .version 7.8
;= .target sm_90
;= .address_size 64
;=
;= .visible .entry falling(.param .u64 .ptr .global .align 4 x, .param .b32 n, .param .u64 .ptr .global .align 4 y)
;= {
;=     .reg .pred %p<1>;
;=     .reg .b32 %r<14>;
;=     .reg .b64 %rd<6>;
;=     mov.b32 %r0, 0;
;=     ld.param.b32 %r1, [n];
;=     ld.param.u64 %rd0, [x];
;=     ld.param.u64 %rd1, [y];
;=     mov.u32 %r2, %ctaid.x;
;=     mov.u32 %r3, %ntid.x;
;=     mov.u32 %r4, %tid.x;
;=     mad.lo.u32 %r5, %r2, %r3, %r4;
;=     mul.wide.u32 %rd2, %r5, 4;
;=     add.u64 %rd3, %rd1, %rd2;
;=     mov.b32 %r6, %r0;
;=     mov.b32 %r7, %r0;
;=     mov.b32 %r8, %r0;
;= $L_0:
;=     shl.b32 %r9, %r6, 2;
;=     mov.b64 %rd4, {%r9, %r0};
;=     add.u64 %rd5, %rd0, %rd4;
;=     ld.global.nc.b32 %r10, [%rd5];
;=     max.s32 %r11, %r7, %r10;
;=     sub.u32 %r12, %r11, %r7;
;=     mul.lo.u32 %r13, %r12, %r10;
;=     add.u32 %r8, %r8, %r13;
;=     add.u32 %r6, %r6, 1;
;=     setp.lt.u32 %p0, %r6, %r1;
;=     mov.b32 %r7, %r11;
;=     @%p0 bra $L_0;
;=     st.global.b32 [%rd3], %r8;
;=     ret;
;= }
