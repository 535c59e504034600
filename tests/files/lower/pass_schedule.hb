; test: lower vp1 passes=pack,legalise,gvn,schedule
; Three words of sums in 32 bits: what is computed of four items is computed while they are at hand.
kernel @item_after_item(%k: i32, %x: in i8, %y: in i8, %s: out i8, %d: out i8) {
^entry:
  %i = item_id
  %n = const.i32 8
  %a = load %x[%i]
  %b = load %y[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %t = mul.i32 %q, %k
  %u = add.i32 %p, %t
  %v = shr_s.i32 %u, %n
  %w = trunc.i8 %v
  store %w, %s[%i]
  %e = sub.i32 %p, %t
  %f = shr_s.i32 %e, %n
  %g = trunc.i8 %f
  store %g, %d[%i]
  ret
}
;= kernel @item_after_item(%k: i32, %x: in i8, %y: in i8, %s: out i8, %d: out i8) groups 16 {
;=   stream %x_0: in i8x16 of %x, 1 byte at 1 * item
;=   stream %y_1: in i8x16 of %y, 1 byte at 1 * item
;=   stream %s_2: out i8x16 of %s, 1 byte at 1 * item
;=   stream %d_3: out i8x16 of %d, 1 byte at 1 * item
;= ^entry:
;=   %0 = item_id
;=   %a = load %x_0[%0]
;=   %1 = extract.i8x16 %a, 0
;=   %2 = zext.i32 %1
;=   %b = load %y_1[%0]
;=   %3 = extract.i8x16 %b, 0
;=   %4 = zext.i32 %3
;=   %5 = mul.i32 %4, %k
;=   %6 = add.i32 %2, %5
;=   %7 = const.i32 8
;=   %8 = shr_s.i32 %6, %7
;=   %9 = trunc.i8 %8
;=   %10 = extract.i8x16 %a, 1
;=   %11 = zext.i32 %10
;=   %12 = extract.i8x16 %b, 1
;=   %13 = zext.i32 %12
;=   %14 = mul.i32 %13, %k
;=   %15 = add.i32 %11, %14
;=   %16 = shr_s.i32 %15, %7
;=   %17 = trunc.i8 %16
;=   %18 = extract.i8x16 %a, 2
;=   %19 = zext.i32 %18
;=   %20 = extract.i8x16 %b, 2
;=   %21 = zext.i32 %20
;=   %22 = mul.i32 %21, %k
;=   %23 = add.i32 %19, %22
;=   %24 = shr_s.i32 %23, %7
;=   %25 = trunc.i8 %24
;=   %26 = extract.i8x16 %a, 3
;=   %27 = zext.i32 %26
;=   %28 = extract.i8x16 %b, 3
;=   %29 = zext.i32 %28
;=   %30 = mul.i32 %29, %k
;=   %31 = add.i32 %27, %30
;=   %32 = shr_s.i32 %31, %7
;=   %33 = trunc.i8 %32
;=   %34 = concat.i8x4 %9, %17, %25, %33
;=   %35 = sub.i32 %2, %5
;=   %36 = shr_s.i32 %35, %7
;=   %37 = trunc.i8 %36
;=   %38 = sub.i32 %11, %14
;=   %39 = shr_s.i32 %38, %7
;=   %40 = trunc.i8 %39
;=   %41 = sub.i32 %19, %22
;=   %42 = shr_s.i32 %41, %7
;=   %43 = trunc.i8 %42
;=   %44 = sub.i32 %27, %30
;=   %45 = shr_s.i32 %44, %7
;=   %46 = trunc.i8 %45
;=   %47 = concat.i8x4 %37, %40, %43, %46
;=   %48 = extract.i8x16 %a, 4
;=   %49 = zext.i32 %48
;=   %50 = extract.i8x16 %b, 4
;=   %51 = zext.i32 %50
;=   %52 = mul.i32 %51, %k
;=   %53 = add.i32 %49, %52
;=   %54 = shr_s.i32 %53, %7
;=   %55 = trunc.i8 %54
;=   %56 = extract.i8x16 %a, 5
;=   %57 = zext.i32 %56
;=   %58 = extract.i8x16 %b, 5
;=   %59 = zext.i32 %58
;=   %60 = mul.i32 %59, %k
;=   %61 = add.i32 %57, %60
;=   %62 = shr_s.i32 %61, %7
;=   %63 = trunc.i8 %62
;=   %64 = extract.i8x16 %a, 6
;=   %65 = zext.i32 %64
;=   %66 = extract.i8x16 %b, 6
;=   %67 = zext.i32 %66
;=   %68 = mul.i32 %67, %k
;=   %69 = add.i32 %65, %68
;=   %70 = shr_s.i32 %69, %7
;=   %71 = trunc.i8 %70
;=   %72 = extract.i8x16 %a, 7
;=   %73 = zext.i32 %72
;=   %74 = extract.i8x16 %b, 7
;=   %75 = zext.i32 %74
;=   %76 = mul.i32 %75, %k
;=   %77 = add.i32 %73, %76
;=   %78 = shr_s.i32 %77, %7
;=   %79 = trunc.i8 %78
;=   %80 = concat.i8x4 %55, %63, %71, %79
;=   %81 = sub.i32 %49, %52
;=   %82 = shr_s.i32 %81, %7
;=   %83 = trunc.i8 %82
;=   %84 = sub.i32 %57, %60
;=   %85 = shr_s.i32 %84, %7
;=   %86 = trunc.i8 %85
;=   %87 = sub.i32 %65, %68
;=   %88 = shr_s.i32 %87, %7
;=   %89 = trunc.i8 %88
;=   %90 = sub.i32 %73, %76
;=   %91 = shr_s.i32 %90, %7
;=   %92 = trunc.i8 %91
;=   %93 = concat.i8x4 %83, %86, %89, %92
;=   %94 = extract.i8x16 %a, 8
;=   %95 = zext.i32 %94
;=   %96 = extract.i8x16 %b, 8
;=   %97 = zext.i32 %96
;=   %98 = mul.i32 %97, %k
;=   %99 = add.i32 %95, %98
;=   %100 = shr_s.i32 %99, %7
;=   %101 = trunc.i8 %100
;=   %102 = extract.i8x16 %a, 9
;=   %103 = zext.i32 %102
;=   %104 = extract.i8x16 %b, 9
;=   %105 = zext.i32 %104
;=   %106 = mul.i32 %105, %k
;=   %107 = add.i32 %103, %106
;=   %108 = shr_s.i32 %107, %7
;=   %109 = trunc.i8 %108
;=   %110 = extract.i8x16 %a, 10
;=   %111 = zext.i32 %110
;=   %112 = extract.i8x16 %b, 10
;=   %113 = zext.i32 %112
;=   %114 = mul.i32 %113, %k
;=   %115 = add.i32 %111, %114
;=   %116 = shr_s.i32 %115, %7
;=   %117 = trunc.i8 %116
;=   %118 = extract.i8x16 %a, 11
;=   %119 = zext.i32 %118
;=   %120 = extract.i8x16 %b, 11
;=   %121 = zext.i32 %120
;=   %122 = mul.i32 %121, %k
;=   %123 = add.i32 %119, %122
;=   %124 = shr_s.i32 %123, %7
;=   %125 = trunc.i8 %124
;=   %126 = concat.i8x4 %101, %109, %117, %125
;=   %127 = sub.i32 %95, %98
;=   %128 = shr_s.i32 %127, %7
;=   %129 = trunc.i8 %128
;=   %130 = sub.i32 %103, %106
;=   %131 = shr_s.i32 %130, %7
;=   %132 = trunc.i8 %131
;=   %133 = sub.i32 %111, %114
;=   %134 = shr_s.i32 %133, %7
;=   %135 = trunc.i8 %134
;=   %136 = sub.i32 %119, %122
;=   %137 = shr_s.i32 %136, %7
;=   %138 = trunc.i8 %137
;=   %139 = concat.i8x4 %129, %132, %135, %138
;=   %140 = extract.i8x16 %a, 12
;=   %141 = zext.i32 %140
;=   %142 = extract.i8x16 %b, 12
;=   %143 = zext.i32 %142
;=   %144 = mul.i32 %143, %k
;=   %145 = add.i32 %141, %144
;=   %146 = shr_s.i32 %145, %7
;=   %147 = trunc.i8 %146
;=   %148 = extract.i8x16 %a, 13
;=   %149 = zext.i32 %148
;=   %150 = extract.i8x16 %b, 13
;=   %151 = zext.i32 %150
;=   %152 = mul.i32 %151, %k
;=   %153 = add.i32 %149, %152
;=   %154 = shr_s.i32 %153, %7
;=   %155 = trunc.i8 %154
;=   %156 = extract.i8x16 %a, 14
;=   %157 = zext.i32 %156
;=   %158 = extract.i8x16 %b, 14
;=   %159 = zext.i32 %158
;=   %160 = mul.i32 %159, %k
;=   %161 = add.i32 %157, %160
;=   %162 = shr_s.i32 %161, %7
;=   %163 = trunc.i8 %162
;=   %164 = extract.i8x16 %a, 15
;=   %165 = zext.i32 %164
;=   %166 = extract.i8x16 %b, 15
;=   %167 = zext.i32 %166
;=   %168 = mul.i32 %167, %k
;=   %169 = add.i32 %165, %168
;=   %170 = shr_s.i32 %169, %7
;=   %171 = trunc.i8 %170
;=   %172 = concat.i8x4 %147, %155, %163, %171
;=   %173 = sub.i32 %141, %144
;=   %174 = shr_s.i32 %173, %7
;=   %175 = trunc.i8 %174
;=   %176 = sub.i32 %149, %152
;=   %177 = shr_s.i32 %176, %7
;=   %178 = trunc.i8 %177
;=   %179 = sub.i32 %157, %160
;=   %180 = shr_s.i32 %179, %7
;=   %181 = trunc.i8 %180
;=   %182 = sub.i32 %165, %168
;=   %183 = shr_s.i32 %182, %7
;=   %184 = trunc.i8 %183
;=   %185 = concat.i8x4 %175, %178, %181, %184
;=   %186 = concat.i8x16 %34, %80, %126, %172
;=   store %186, %s_2[%0]
;=   %187 = concat.i8x16 %47, %93, %139, %185
;=   store %187, %d_3[%0]
;=   %188 = const.i32 16
;=   %189 = mul.i32 %0, %188
;=   %190 = const.i32 1
;=   %191 = add.i32 %189, %190
;=   %192 = const.i32 2
;=   %193 = add.i32 %189, %192
;=   %194 = const.i32 3
;=   %195 = add.i32 %189, %194
;=   %196 = const.i32 4
;=   %197 = add.i32 %189, %196
;=   %198 = const.i32 5
;=   %199 = add.i32 %189, %198
;=   %200 = const.i32 6
;=   %201 = add.i32 %189, %200
;=   %202 = const.i32 7
;=   %203 = add.i32 %189, %202
;=   %204 = add.i32 %189, %7
;=   %205 = const.i32 9
;=   %206 = add.i32 %189, %205
;=   %207 = const.i32 10
;=   %208 = add.i32 %189, %207
;=   %209 = const.i32 11
;=   %210 = add.i32 %189, %209
;=   %211 = const.i32 12
;=   %212 = add.i32 %189, %211
;=   %213 = const.i32 13
;=   %214 = add.i32 %189, %213
;=   %215 = const.i32 14
;=   %216 = add.i32 %189, %215
;=   %217 = const.i32 15
;=   %218 = add.i32 %189, %217
;=   ret
;= }

; test: lower vp1 passes=pack,legalise,gvn,schedule
; There are registers for all values: they stay as they are.
kernel @enough_registers(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = add.i32 %a, %a
  %c = mul.i32 %b, %a
  store %c, %y[%i]
  ret
}
;= kernel @enough_registers(%x: in i32, %y: out i32) groups 1 {
;=   stream %x_0: in i32 of %x, 4 bytes at 4 * item
;=   stream %y_1: out i32 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %i = item_id
;=   %a = load %x_0[%i]
;=   %b = add.i32 %a, %a
;=   %c = mul.i32 %b, %a
;=   store %c, %y_1[%i]
;=   ret
;= }

; test: lower halu passes=schedule
; Items that share no vectors are not packed.
kernel @not_packed(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = add.i32 %a, %a
  store %b, %y[%i]
  ret
}
;= kernel @not_packed(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = add.i32 %a, %a
;=   store %b, %y[%i]
;=   ret
;= }
