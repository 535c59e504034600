; test: lower halu passes=legalise,gvn,dce
; Six taps: the sum is one of half-words, two in a word. Products of what is not negative are those of words, a negative factor subtracts, and what is clamped is
; clamped before the shift.
kernel @six_taps(%x: in i8x16, %y: in i8x16, %z: in i8x16, %o: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %z[%i]
  %p = zext.i16x16 %a
  %q = zext.i16x16 %b
  %s = zext.i16x16 %c
  %k = const.i16x16 20
  %m = const.i16x16 -5
  %u = mul.i16x16 %p, %k
  %v = mul.i16x16 %q, %m
  %w = add.i16x16 %u, %v
  %t = add.i16x16 %w, %s
  %n = const.i16x16 5
  %e = round_shr_s.i16x16 %t, %n
  %r = narrow_sat_u.i8x16 %e
  store %r, %o[%i]
  ret
}
;= kernel @six_taps(%x: in i8x16, %y: in i8x16, %z: in i8x16, %o: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %c = load %z[%i]
;=   %0 = split.i8x4 %b, 0
;=   %1 = split.i8x4 %b, 1
;=   %2 = split.i8x4 %b, 2
;=   %3 = split.i8x4 %b, 3
;=   %4 = const.i8x4 0
;=   %5 = shuffle.i8x4 %0, %4, [0, 4, 1, 4]
;=   %6 = bitcast.i16x2 %5
;=   %7 = shuffle.i8x4 %0, %4, [2, 4, 3, 4]
;=   %8 = bitcast.i16x2 %7
;=   %9 = shuffle.i8x4 %1, %4, [0, 4, 1, 4]
;=   %10 = bitcast.i16x2 %9
;=   %11 = shuffle.i8x4 %1, %4, [2, 4, 3, 4]
;=   %12 = bitcast.i16x2 %11
;=   %13 = shuffle.i8x4 %2, %4, [0, 4, 1, 4]
;=   %14 = bitcast.i16x2 %13
;=   %15 = shuffle.i8x4 %2, %4, [2, 4, 3, 4]
;=   %16 = bitcast.i16x2 %15
;=   %17 = shuffle.i8x4 %3, %4, [0, 4, 1, 4]
;=   %18 = bitcast.i16x2 %17
;=   %19 = shuffle.i8x4 %3, %4, [2, 4, 3, 4]
;=   %20 = bitcast.i16x2 %19
;=   %21 = const.i32 5
;=   %22 = bitcast.i32 %6
;=   %23 = mul.i32 %22, %21
;=   %24 = bitcast.i16x2 %23
;=   %25 = bitcast.i32 %8
;=   %26 = mul.i32 %25, %21
;=   %27 = bitcast.i16x2 %26
;=   %28 = bitcast.i32 %10
;=   %29 = mul.i32 %28, %21
;=   %30 = bitcast.i16x2 %29
;=   %31 = bitcast.i32 %12
;=   %32 = mul.i32 %31, %21
;=   %33 = bitcast.i16x2 %32
;=   %34 = bitcast.i32 %14
;=   %35 = mul.i32 %34, %21
;=   %36 = bitcast.i16x2 %35
;=   %37 = bitcast.i32 %16
;=   %38 = mul.i32 %37, %21
;=   %39 = bitcast.i16x2 %38
;=   %40 = bitcast.i32 %18
;=   %41 = mul.i32 %40, %21
;=   %42 = bitcast.i16x2 %41
;=   %43 = bitcast.i32 %20
;=   %44 = mul.i32 %43, %21
;=   %45 = bitcast.i16x2 %44
;=   %46 = split.i8x4 %a, 0
;=   %47 = split.i8x4 %a, 1
;=   %48 = split.i8x4 %a, 2
;=   %49 = split.i8x4 %a, 3
;=   %50 = shuffle.i8x4 %46, %4, [0, 4, 1, 4]
;=   %51 = bitcast.i16x2 %50
;=   %52 = shuffle.i8x4 %46, %4, [2, 4, 3, 4]
;=   %53 = bitcast.i16x2 %52
;=   %54 = shuffle.i8x4 %47, %4, [0, 4, 1, 4]
;=   %55 = bitcast.i16x2 %54
;=   %56 = shuffle.i8x4 %47, %4, [2, 4, 3, 4]
;=   %57 = bitcast.i16x2 %56
;=   %58 = shuffle.i8x4 %48, %4, [0, 4, 1, 4]
;=   %59 = bitcast.i16x2 %58
;=   %60 = shuffle.i8x4 %48, %4, [2, 4, 3, 4]
;=   %61 = bitcast.i16x2 %60
;=   %62 = shuffle.i8x4 %49, %4, [0, 4, 1, 4]
;=   %63 = bitcast.i16x2 %62
;=   %64 = shuffle.i8x4 %49, %4, [2, 4, 3, 4]
;=   %65 = bitcast.i16x2 %64
;=   %66 = const.i32 20
;=   %67 = bitcast.i32 %51
;=   %68 = mul.i32 %67, %66
;=   %69 = bitcast.i16x2 %68
;=   %70 = bitcast.i32 %53
;=   %71 = mul.i32 %70, %66
;=   %72 = bitcast.i16x2 %71
;=   %73 = bitcast.i32 %55
;=   %74 = mul.i32 %73, %66
;=   %75 = bitcast.i16x2 %74
;=   %76 = bitcast.i32 %57
;=   %77 = mul.i32 %76, %66
;=   %78 = bitcast.i16x2 %77
;=   %79 = bitcast.i32 %59
;=   %80 = mul.i32 %79, %66
;=   %81 = bitcast.i16x2 %80
;=   %82 = bitcast.i32 %61
;=   %83 = mul.i32 %82, %66
;=   %84 = bitcast.i16x2 %83
;=   %85 = bitcast.i32 %63
;=   %86 = mul.i32 %85, %66
;=   %87 = bitcast.i16x2 %86
;=   %88 = bitcast.i32 %65
;=   %89 = mul.i32 %88, %66
;=   %90 = bitcast.i16x2 %89
;=   %91 = sub.i16x2 %69, %24
;=   %92 = sub.i16x2 %72, %27
;=   %93 = sub.i16x2 %75, %30
;=   %94 = sub.i16x2 %78, %33
;=   %95 = sub.i16x2 %81, %36
;=   %96 = sub.i16x2 %84, %39
;=   %97 = sub.i16x2 %87, %42
;=   %98 = sub.i16x2 %90, %45
;=   %99 = split.i8x4 %c, 0
;=   %100 = split.i8x4 %c, 1
;=   %101 = split.i8x4 %c, 2
;=   %102 = split.i8x4 %c, 3
;=   %103 = shuffle.i8x4 %99, %4, [0, 4, 1, 4]
;=   %104 = bitcast.i16x2 %103
;=   %105 = shuffle.i8x4 %99, %4, [2, 4, 3, 4]
;=   %106 = bitcast.i16x2 %105
;=   %107 = shuffle.i8x4 %100, %4, [0, 4, 1, 4]
;=   %108 = bitcast.i16x2 %107
;=   %109 = shuffle.i8x4 %100, %4, [2, 4, 3, 4]
;=   %110 = bitcast.i16x2 %109
;=   %111 = shuffle.i8x4 %101, %4, [0, 4, 1, 4]
;=   %112 = bitcast.i16x2 %111
;=   %113 = shuffle.i8x4 %101, %4, [2, 4, 3, 4]
;=   %114 = bitcast.i16x2 %113
;=   %115 = shuffle.i8x4 %102, %4, [0, 4, 1, 4]
;=   %116 = bitcast.i16x2 %115
;=   %117 = shuffle.i8x4 %102, %4, [2, 4, 3, 4]
;=   %118 = bitcast.i16x2 %117
;=   %119 = add.i16x2 %91, %104
;=   %120 = add.i16x2 %92, %106
;=   %121 = add.i16x2 %93, %108
;=   %122 = add.i16x2 %94, %110
;=   %123 = add.i16x2 %95, %112
;=   %124 = add.i16x2 %96, %114
;=   %125 = add.i16x2 %97, %116
;=   %126 = add.i16x2 %98, %118
;=   %127 = const.i16x2 -16
;=   %128 = max_s.i16x2 %119, %127
;=   %129 = max_s.i16x2 %120, %127
;=   %130 = max_s.i16x2 %121, %127
;=   %131 = max_s.i16x2 %122, %127
;=   %132 = max_s.i16x2 %123, %127
;=   %133 = max_s.i16x2 %124, %127
;=   %134 = max_s.i16x2 %125, %127
;=   %135 = max_s.i16x2 %126, %127
;=   %136 = const.i16x2 16
;=   %137 = add.i16x2 %128, %136
;=   %138 = add.i16x2 %129, %136
;=   %139 = add.i16x2 %130, %136
;=   %140 = add.i16x2 %131, %136
;=   %141 = add.i16x2 %132, %136
;=   %142 = add.i16x2 %133, %136
;=   %143 = add.i16x2 %134, %136
;=   %144 = add.i16x2 %135, %136
;=   %145 = bitcast.i32 %137
;=   %146 = shr_u.i32 %145, %21
;=   %147 = bitcast.i8x4 %146
;=   %148 = bitcast.i32 %138
;=   %149 = shr_u.i32 %148, %21
;=   %150 = bitcast.i8x4 %149
;=   %151 = shuffle.i8x4 %147, %150, [0, 2, 4, 6]
;=   %152 = bitcast.i32 %139
;=   %153 = shr_u.i32 %152, %21
;=   %154 = bitcast.i8x4 %153
;=   %155 = bitcast.i32 %140
;=   %156 = shr_u.i32 %155, %21
;=   %157 = bitcast.i8x4 %156
;=   %158 = shuffle.i8x4 %154, %157, [0, 2, 4, 6]
;=   %159 = bitcast.i32 %141
;=   %160 = shr_u.i32 %159, %21
;=   %161 = bitcast.i8x4 %160
;=   %162 = bitcast.i32 %142
;=   %163 = shr_u.i32 %162, %21
;=   %164 = bitcast.i8x4 %163
;=   %165 = shuffle.i8x4 %161, %164, [0, 2, 4, 6]
;=   %166 = bitcast.i32 %143
;=   %167 = shr_u.i32 %166, %21
;=   %168 = bitcast.i8x4 %167
;=   %169 = bitcast.i32 %144
;=   %170 = shr_u.i32 %169, %21
;=   %171 = bitcast.i8x4 %170
;=   %172 = shuffle.i8x4 %168, %171, [0, 2, 4, 6]
;=   %r = concat.i8x16 %151, %158, %165, %172
;=   store %r, %o[%i]
;=   ret
;= }

; Sums of 32 bits that take 16 to be told apart: counted from the least, where neither sign holds all.
kernel @sums_of_words(%x: in i8x16, %y: in i8x16, %o: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %p = zext.i32x16 %a
  %q = zext.i32x16 %b
  %k = const.i32x16 168
  %m = const.i32x16 -40
  %u = mul.i32x16 %p, %k
  %v = mul.i32x16 %q, %m
  %t = add.i32x16 %u, %v
  %n = const.i32x16 7
  %e = round_shr_s.i32x16 %t, %n
  %h = narrow_sat_s.i16x16 %e
  %r = narrow_sat_u.i8x16 %h
  store %r, %o[%i]
  ret
}
;= kernel @sums_of_words(%x: in i8x16, %y: in i8x16, %o: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %0 = split.i8x4 %b, 0
;=   %1 = split.i8x4 %b, 1
;=   %2 = split.i8x4 %b, 2
;=   %3 = split.i8x4 %b, 3
;=   %4 = const.i8x4 0
;=   %5 = shuffle.i8x4 %0, %4, [0, 4, 1, 4]
;=   %6 = bitcast.i16x2 %5
;=   %7 = shuffle.i8x4 %0, %4, [2, 4, 3, 4]
;=   %8 = bitcast.i16x2 %7
;=   %9 = shuffle.i8x4 %1, %4, [0, 4, 1, 4]
;=   %10 = bitcast.i16x2 %9
;=   %11 = shuffle.i8x4 %1, %4, [2, 4, 3, 4]
;=   %12 = bitcast.i16x2 %11
;=   %13 = shuffle.i8x4 %2, %4, [0, 4, 1, 4]
;=   %14 = bitcast.i16x2 %13
;=   %15 = shuffle.i8x4 %2, %4, [2, 4, 3, 4]
;=   %16 = bitcast.i16x2 %15
;=   %17 = shuffle.i8x4 %3, %4, [0, 4, 1, 4]
;=   %18 = bitcast.i16x2 %17
;=   %19 = shuffle.i8x4 %3, %4, [2, 4, 3, 4]
;=   %20 = bitcast.i16x2 %19
;=   %21 = const.i32 40
;=   %22 = bitcast.i32 %6
;=   %23 = mul.i32 %22, %21
;=   %24 = bitcast.i16x2 %23
;=   %25 = bitcast.i32 %8
;=   %26 = mul.i32 %25, %21
;=   %27 = bitcast.i16x2 %26
;=   %28 = bitcast.i32 %10
;=   %29 = mul.i32 %28, %21
;=   %30 = bitcast.i16x2 %29
;=   %31 = bitcast.i32 %12
;=   %32 = mul.i32 %31, %21
;=   %33 = bitcast.i16x2 %32
;=   %34 = bitcast.i32 %14
;=   %35 = mul.i32 %34, %21
;=   %36 = bitcast.i16x2 %35
;=   %37 = bitcast.i32 %16
;=   %38 = mul.i32 %37, %21
;=   %39 = bitcast.i16x2 %38
;=   %40 = bitcast.i32 %18
;=   %41 = mul.i32 %40, %21
;=   %42 = bitcast.i16x2 %41
;=   %43 = bitcast.i32 %20
;=   %44 = mul.i32 %43, %21
;=   %45 = bitcast.i16x2 %44
;=   %46 = split.i8x4 %a, 0
;=   %47 = split.i8x4 %a, 1
;=   %48 = split.i8x4 %a, 2
;=   %49 = split.i8x4 %a, 3
;=   %50 = shuffle.i8x4 %46, %4, [0, 4, 1, 4]
;=   %51 = bitcast.i16x2 %50
;=   %52 = shuffle.i8x4 %46, %4, [2, 4, 3, 4]
;=   %53 = bitcast.i16x2 %52
;=   %54 = shuffle.i8x4 %47, %4, [0, 4, 1, 4]
;=   %55 = bitcast.i16x2 %54
;=   %56 = shuffle.i8x4 %47, %4, [2, 4, 3, 4]
;=   %57 = bitcast.i16x2 %56
;=   %58 = shuffle.i8x4 %48, %4, [0, 4, 1, 4]
;=   %59 = bitcast.i16x2 %58
;=   %60 = shuffle.i8x4 %48, %4, [2, 4, 3, 4]
;=   %61 = bitcast.i16x2 %60
;=   %62 = shuffle.i8x4 %49, %4, [0, 4, 1, 4]
;=   %63 = bitcast.i16x2 %62
;=   %64 = shuffle.i8x4 %49, %4, [2, 4, 3, 4]
;=   %65 = bitcast.i16x2 %64
;=   %66 = const.i32 168
;=   %67 = bitcast.i32 %51
;=   %68 = mul.i32 %67, %66
;=   %69 = bitcast.i16x2 %68
;=   %70 = bitcast.i32 %53
;=   %71 = mul.i32 %70, %66
;=   %72 = bitcast.i16x2 %71
;=   %73 = bitcast.i32 %55
;=   %74 = mul.i32 %73, %66
;=   %75 = bitcast.i16x2 %74
;=   %76 = bitcast.i32 %57
;=   %77 = mul.i32 %76, %66
;=   %78 = bitcast.i16x2 %77
;=   %79 = bitcast.i32 %59
;=   %80 = mul.i32 %79, %66
;=   %81 = bitcast.i16x2 %80
;=   %82 = bitcast.i32 %61
;=   %83 = mul.i32 %82, %66
;=   %84 = bitcast.i16x2 %83
;=   %85 = bitcast.i32 %63
;=   %86 = mul.i32 %85, %66
;=   %87 = bitcast.i16x2 %86
;=   %88 = bitcast.i32 %65
;=   %89 = mul.i32 %88, %66
;=   %90 = bitcast.i16x2 %89
;=   %91 = sub.i16x2 %69, %24
;=   %92 = sub.i16x2 %72, %27
;=   %93 = sub.i16x2 %75, %30
;=   %94 = sub.i16x2 %78, %33
;=   %95 = sub.i16x2 %81, %36
;=   %96 = sub.i16x2 %84, %39
;=   %97 = sub.i16x2 %87, %42
;=   %98 = sub.i16x2 %90, %45
;=   %99 = const.i16x2 10200
;=   %100 = add.i16x2 %91, %99
;=   %101 = add.i16x2 %92, %99
;=   %102 = add.i16x2 %93, %99
;=   %103 = add.i16x2 %94, %99
;=   %104 = add.i16x2 %95, %99
;=   %105 = add.i16x2 %96, %99
;=   %106 = add.i16x2 %97, %99
;=   %107 = add.i16x2 %98, %99
;=   %108 = const.i16x2 -22633
;=   %109 = min_u.i16x2 %100, %108
;=   %110 = min_u.i16x2 %101, %108
;=   %111 = min_u.i16x2 %102, %108
;=   %112 = min_u.i16x2 %103, %108
;=   %113 = min_u.i16x2 %104, %108
;=   %114 = min_u.i16x2 %105, %108
;=   %115 = min_u.i16x2 %106, %108
;=   %116 = min_u.i16x2 %107, %108
;=   %117 = const.i16x2 10136
;=   %118 = max_u.i16x2 %109, %117
;=   %119 = max_u.i16x2 %110, %117
;=   %120 = max_u.i16x2 %111, %117
;=   %121 = max_u.i16x2 %112, %117
;=   %122 = max_u.i16x2 %113, %117
;=   %123 = max_u.i16x2 %114, %117
;=   %124 = max_u.i16x2 %115, %117
;=   %125 = max_u.i16x2 %116, %117
;=   %126 = const.i16x2 -10136
;=   %127 = add.i16x2 %118, %126
;=   %128 = add.i16x2 %119, %126
;=   %129 = add.i16x2 %120, %126
;=   %130 = add.i16x2 %121, %126
;=   %131 = add.i16x2 %122, %126
;=   %132 = add.i16x2 %123, %126
;=   %133 = add.i16x2 %124, %126
;=   %134 = add.i16x2 %125, %126
;=   %135 = bitcast.i32 %127
;=   %136 = const.i32 7
;=   %137 = shr_u.i32 %135, %136
;=   %138 = bitcast.i8x4 %137
;=   %139 = bitcast.i32 %128
;=   %140 = shr_u.i32 %139, %136
;=   %141 = bitcast.i8x4 %140
;=   %142 = shuffle.i8x4 %138, %141, [0, 2, 4, 6]
;=   %143 = bitcast.i32 %129
;=   %144 = shr_u.i32 %143, %136
;=   %145 = bitcast.i8x4 %144
;=   %146 = bitcast.i32 %130
;=   %147 = shr_u.i32 %146, %136
;=   %148 = bitcast.i8x4 %147
;=   %149 = shuffle.i8x4 %145, %148, [0, 2, 4, 6]
;=   %150 = bitcast.i32 %131
;=   %151 = shr_u.i32 %150, %136
;=   %152 = bitcast.i8x4 %151
;=   %153 = bitcast.i32 %132
;=   %154 = shr_u.i32 %153, %136
;=   %155 = bitcast.i8x4 %154
;=   %156 = shuffle.i8x4 %152, %155, [0, 2, 4, 6]
;=   %157 = bitcast.i32 %133
;=   %158 = shr_u.i32 %157, %136
;=   %159 = bitcast.i8x4 %158
;=   %160 = bitcast.i32 %134
;=   %161 = shr_u.i32 %160, %136
;=   %162 = bitcast.i8x4 %161
;=   %163 = shuffle.i8x4 %159, %162, [0, 2, 4, 6]
;=   %r = concat.i8x16 %142, %149, %156, %163
;=   store %r, %o[%i]
;=   ret
;= }

; Products of lanes that may be negative are counted from the least of them.
kernel @signed_products(%x: in i8x16, %o: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %p = sext.i16x16 %a
  %k = const.i16x16 11
  %u = mul.i16x16 %p, %k
  %n = const.i16x16 4
  %e = shr_s.i16x16 %u, %n
  %r = trunc.i8x16 %e
  store %r, %o[%i]
  ret
}
;= kernel @signed_products(%x: in i8x16, %o: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = split.i8x4 %a, 0
;=   %1 = split.i8x4 %a, 1
;=   %2 = split.i8x4 %a, 2
;=   %3 = split.i8x4 %a, 3
;=   %4 = extract.i8x4 %0, 0
;=   %5 = sext.i16 %4
;=   %6 = extract.i8x4 %0, 1
;=   %7 = sext.i16 %6
;=   %8 = concat.i16x2 %5, %7
;=   %9 = extract.i8x4 %0, 2
;=   %10 = sext.i16 %9
;=   %11 = extract.i8x4 %0, 3
;=   %12 = sext.i16 %11
;=   %13 = concat.i16x2 %10, %12
;=   %14 = extract.i8x4 %1, 0
;=   %15 = sext.i16 %14
;=   %16 = extract.i8x4 %1, 1
;=   %17 = sext.i16 %16
;=   %18 = concat.i16x2 %15, %17
;=   %19 = extract.i8x4 %1, 2
;=   %20 = sext.i16 %19
;=   %21 = extract.i8x4 %1, 3
;=   %22 = sext.i16 %21
;=   %23 = concat.i16x2 %20, %22
;=   %24 = extract.i8x4 %2, 0
;=   %25 = sext.i16 %24
;=   %26 = extract.i8x4 %2, 1
;=   %27 = sext.i16 %26
;=   %28 = concat.i16x2 %25, %27
;=   %29 = extract.i8x4 %2, 2
;=   %30 = sext.i16 %29
;=   %31 = extract.i8x4 %2, 3
;=   %32 = sext.i16 %31
;=   %33 = concat.i16x2 %30, %32
;=   %34 = extract.i8x4 %3, 0
;=   %35 = sext.i16 %34
;=   %36 = extract.i8x4 %3, 1
;=   %37 = sext.i16 %36
;=   %38 = concat.i16x2 %35, %37
;=   %39 = extract.i8x4 %3, 2
;=   %40 = sext.i16 %39
;=   %41 = extract.i8x4 %3, 3
;=   %42 = sext.i16 %41
;=   %43 = concat.i16x2 %40, %42
;=   %44 = const.i16x2 128
;=   %45 = add.i16x2 %8, %44
;=   %46 = add.i16x2 %13, %44
;=   %47 = add.i16x2 %18, %44
;=   %48 = add.i16x2 %23, %44
;=   %49 = add.i16x2 %28, %44
;=   %50 = add.i16x2 %33, %44
;=   %51 = add.i16x2 %38, %44
;=   %52 = add.i16x2 %43, %44
;=   %53 = const.i32 11
;=   %54 = bitcast.i32 %45
;=   %55 = mul.i32 %54, %53
;=   %56 = bitcast.i16x2 %55
;=   %57 = bitcast.i32 %46
;=   %58 = mul.i32 %57, %53
;=   %59 = bitcast.i16x2 %58
;=   %60 = bitcast.i32 %47
;=   %61 = mul.i32 %60, %53
;=   %62 = bitcast.i16x2 %61
;=   %63 = bitcast.i32 %48
;=   %64 = mul.i32 %63, %53
;=   %65 = bitcast.i16x2 %64
;=   %66 = bitcast.i32 %49
;=   %67 = mul.i32 %66, %53
;=   %68 = bitcast.i16x2 %67
;=   %69 = bitcast.i32 %50
;=   %70 = mul.i32 %69, %53
;=   %71 = bitcast.i16x2 %70
;=   %72 = bitcast.i32 %51
;=   %73 = mul.i32 %72, %53
;=   %74 = bitcast.i16x2 %73
;=   %75 = bitcast.i32 %52
;=   %76 = mul.i32 %75, %53
;=   %77 = bitcast.i16x2 %76
;=   %78 = const.i16x2 -1408
;=   %79 = add.i16x2 %56, %78
;=   %80 = add.i16x2 %59, %78
;=   %81 = add.i16x2 %62, %78
;=   %82 = add.i16x2 %65, %78
;=   %83 = add.i16x2 %68, %78
;=   %84 = add.i16x2 %71, %78
;=   %85 = add.i16x2 %74, %78
;=   %86 = add.i16x2 %77, %78
;=   %87 = bitcast.i32 %79
;=   %88 = const.i32 4
;=   %89 = shr_u.i32 %87, %88
;=   %90 = bitcast.i8x4 %89
;=   %91 = bitcast.i32 %80
;=   %92 = shr_u.i32 %91, %88
;=   %93 = bitcast.i8x4 %92
;=   %94 = shuffle.i8x4 %90, %93, [0, 2, 4, 6]
;=   %95 = bitcast.i32 %81
;=   %96 = shr_u.i32 %95, %88
;=   %97 = bitcast.i8x4 %96
;=   %98 = bitcast.i32 %82
;=   %99 = shr_u.i32 %98, %88
;=   %100 = bitcast.i8x4 %99
;=   %101 = shuffle.i8x4 %97, %100, [0, 2, 4, 6]
;=   %102 = bitcast.i32 %83
;=   %103 = shr_u.i32 %102, %88
;=   %104 = bitcast.i8x4 %103
;=   %105 = bitcast.i32 %84
;=   %106 = shr_u.i32 %105, %88
;=   %107 = bitcast.i8x4 %106
;=   %108 = shuffle.i8x4 %104, %107, [0, 2, 4, 6]
;=   %109 = bitcast.i32 %85
;=   %110 = shr_u.i32 %109, %88
;=   %111 = bitcast.i8x4 %110
;=   %112 = bitcast.i32 %86
;=   %113 = shr_u.i32 %112, %88
;=   %114 = bitcast.i8x4 %113
;=   %115 = shuffle.i8x4 %111, %114, [0, 2, 4, 6]
;=   %r = concat.i8x16 %94, %101, %108, %115
;=   store %r, %o[%i]
;=   ret
;= }

; A sum goes round a loop as eight words.
kernel @round_a_loop(%n: i32, %x: in i8x16, %o: out i8x16) {
^entry:
  %i = item_id
  %first = load %x[%i]
  %none = const.i16x16 0
  %zero = const.i32 0
  br ^head(%zero, %none)
^head(%c: i32, %sum: i16x16):
  %at = add.i32 %i, %c
  %a = load %x[%at]
  %p = zext.i16x16 %a
  %next = add.i16x16 %sum, %p
  %one = const.i32 1
  %d = add.i32 %c, %one
  %more = icmp.lt_s.i32 %d, %n
  br_if %more, ^head(%d, %next), ^exit
^exit:
  %k = const.i16x16 3
  %e = round_shr_u.i16x16 %next, %k
  %r = narrow_sat_uu.i8x16 %e
  store %r, %o[%i]
  ret
}
;= kernel @round_a_loop(%n: i32, %x: in i8x16, %o: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %first = load %x[%i]
;=   %zero = const.i32 0
;=   %0 = const.i16x2 0
;=   br ^head(%zero, %0, %0, %0, %0, %0, %0, %0, %0)
;= ^head(%c: i32, %1: i16x2, %2: i16x2, %3: i16x2, %4: i16x2, %5: i16x2, %6: i16x2, %7: i16x2, %8: i16x2):
;=   %at = add.i32 %i, %c
;=   %a = load %x[%at]
;=   %one = const.i32 1
;=   %d = add.i32 %c, %one
;=   %more = icmp.lt_s.i32 %d, %n
;=   %9 = split.i8x4 %a, 0
;=   %10 = split.i8x4 %a, 1
;=   %11 = split.i8x4 %a, 2
;=   %12 = split.i8x4 %a, 3
;=   %13 = const.i8x4 0
;=   %14 = shuffle.i8x4 %9, %13, [0, 4, 1, 4]
;=   %15 = bitcast.i16x2 %14
;=   %16 = shuffle.i8x4 %9, %13, [2, 4, 3, 4]
;=   %17 = bitcast.i16x2 %16
;=   %18 = shuffle.i8x4 %10, %13, [0, 4, 1, 4]
;=   %19 = bitcast.i16x2 %18
;=   %20 = shuffle.i8x4 %10, %13, [2, 4, 3, 4]
;=   %21 = bitcast.i16x2 %20
;=   %22 = shuffle.i8x4 %11, %13, [0, 4, 1, 4]
;=   %23 = bitcast.i16x2 %22
;=   %24 = shuffle.i8x4 %11, %13, [2, 4, 3, 4]
;=   %25 = bitcast.i16x2 %24
;=   %26 = shuffle.i8x4 %12, %13, [0, 4, 1, 4]
;=   %27 = bitcast.i16x2 %26
;=   %28 = shuffle.i8x4 %12, %13, [2, 4, 3, 4]
;=   %29 = bitcast.i16x2 %28
;=   %30 = add.i16x2 %1, %15
;=   %31 = add.i16x2 %2, %17
;=   %32 = add.i16x2 %3, %19
;=   %33 = add.i16x2 %4, %21
;=   %34 = add.i16x2 %5, %23
;=   %35 = add.i16x2 %6, %25
;=   %36 = add.i16x2 %7, %27
;=   %37 = add.i16x2 %8, %29
;=   br_if %more, ^head(%d, %30, %31, %32, %33, %34, %35, %36, %37), ^exit
;= ^exit:
;=   %38 = const.i16x2 2043
;=   %39 = min_u.i16x2 %30, %38
;=   %40 = min_u.i16x2 %31, %38
;=   %41 = min_u.i16x2 %32, %38
;=   %42 = min_u.i16x2 %33, %38
;=   %43 = min_u.i16x2 %34, %38
;=   %44 = min_u.i16x2 %35, %38
;=   %45 = min_u.i16x2 %36, %38
;=   %46 = min_u.i16x2 %37, %38
;=   %47 = const.i16x2 4
;=   %48 = bitcast.i32 %47
;=   %49 = bitcast.i32 %39
;=   %50 = add.i32 %49, %48
;=   %51 = bitcast.i16x2 %50
;=   %52 = bitcast.i32 %40
;=   %53 = add.i32 %52, %48
;=   %54 = bitcast.i16x2 %53
;=   %55 = bitcast.i32 %41
;=   %56 = add.i32 %55, %48
;=   %57 = bitcast.i16x2 %56
;=   %58 = bitcast.i32 %42
;=   %59 = add.i32 %58, %48
;=   %60 = bitcast.i16x2 %59
;=   %61 = bitcast.i32 %43
;=   %62 = add.i32 %61, %48
;=   %63 = bitcast.i16x2 %62
;=   %64 = bitcast.i32 %44
;=   %65 = add.i32 %64, %48
;=   %66 = bitcast.i16x2 %65
;=   %67 = bitcast.i32 %45
;=   %68 = add.i32 %67, %48
;=   %69 = bitcast.i16x2 %68
;=   %70 = bitcast.i32 %46
;=   %71 = add.i32 %70, %48
;=   %72 = bitcast.i16x2 %71
;=   %73 = bitcast.i32 %51
;=   %74 = const.i32 3
;=   %75 = shr_u.i32 %73, %74
;=   %76 = bitcast.i8x4 %75
;=   %77 = bitcast.i32 %54
;=   %78 = shr_u.i32 %77, %74
;=   %79 = bitcast.i8x4 %78
;=   %80 = shuffle.i8x4 %76, %79, [0, 2, 4, 6]
;=   %81 = bitcast.i32 %57
;=   %82 = shr_u.i32 %81, %74
;=   %83 = bitcast.i8x4 %82
;=   %84 = bitcast.i32 %60
;=   %85 = shr_u.i32 %84, %74
;=   %86 = bitcast.i8x4 %85
;=   %87 = shuffle.i8x4 %83, %86, [0, 2, 4, 6]
;=   %88 = bitcast.i32 %63
;=   %89 = shr_u.i32 %88, %74
;=   %90 = bitcast.i8x4 %89
;=   %91 = bitcast.i32 %66
;=   %92 = shr_u.i32 %91, %74
;=   %93 = bitcast.i8x4 %92
;=   %94 = shuffle.i8x4 %90, %93, [0, 2, 4, 6]
;=   %95 = bitcast.i32 %69
;=   %96 = shr_u.i32 %95, %74
;=   %97 = bitcast.i8x4 %96
;=   %98 = bitcast.i32 %72
;=   %99 = shr_u.i32 %98, %74
;=   %100 = bitcast.i8x4 %99
;=   %101 = shuffle.i8x4 %97, %100, [0, 2, 4, 6]
;=   %r = concat.i8x16 %80, %87, %94, %101
;=   store %r, %o[%i]
;=   ret
;= }

; A factor that is the same everywhere multiplies words; of products of lanes each is a product of its own.
kernel @vectors(%s: i8, %x: in i8x16, %y: in i8x16, %o: out i8x16, %p: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %v = splat.i8x16 %s
  %t = mul_wide_u.i8x16 %a, %v
  %n = const.i16x16 6
  %e = round_shr_u.i16x16 %t, %n
  %r = narrow_sat_uu.i8x16 %e
  store %r, %o[%i]
  %u = mul_wide_u.i8x16 %a, %b
  %f = shr_u.i16x16 %u, %n
  %q = trunc.i8x16 %f
  store %q, %p[%i]
  ret
}
;= kernel @vectors(%s: i8, %x: in i8x16, %y: in i8x16, %o: out i8x16, %p: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %0 = zext.i32 %s
;=   %1 = split.i8x4 %a, 0
;=   %2 = split.i8x4 %a, 1
;=   %3 = split.i8x4 %a, 2
;=   %4 = split.i8x4 %a, 3
;=   %5 = const.i8x4 0
;=   %6 = shuffle.i8x4 %1, %5, [0, 4, 1, 4]
;=   %7 = bitcast.i16x2 %6
;=   %8 = shuffle.i8x4 %1, %5, [2, 4, 3, 4]
;=   %9 = bitcast.i16x2 %8
;=   %10 = shuffle.i8x4 %2, %5, [0, 4, 1, 4]
;=   %11 = bitcast.i16x2 %10
;=   %12 = shuffle.i8x4 %2, %5, [2, 4, 3, 4]
;=   %13 = bitcast.i16x2 %12
;=   %14 = shuffle.i8x4 %3, %5, [0, 4, 1, 4]
;=   %15 = bitcast.i16x2 %14
;=   %16 = shuffle.i8x4 %3, %5, [2, 4, 3, 4]
;=   %17 = bitcast.i16x2 %16
;=   %18 = shuffle.i8x4 %4, %5, [0, 4, 1, 4]
;=   %19 = bitcast.i16x2 %18
;=   %20 = shuffle.i8x4 %4, %5, [2, 4, 3, 4]
;=   %21 = bitcast.i16x2 %20
;=   %22 = bitcast.i32 %7
;=   %23 = mul.i32 %22, %0
;=   %24 = bitcast.i16x2 %23
;=   %25 = bitcast.i32 %9
;=   %26 = mul.i32 %25, %0
;=   %27 = bitcast.i16x2 %26
;=   %28 = bitcast.i32 %11
;=   %29 = mul.i32 %28, %0
;=   %30 = bitcast.i16x2 %29
;=   %31 = bitcast.i32 %13
;=   %32 = mul.i32 %31, %0
;=   %33 = bitcast.i16x2 %32
;=   %34 = bitcast.i32 %15
;=   %35 = mul.i32 %34, %0
;=   %36 = bitcast.i16x2 %35
;=   %37 = bitcast.i32 %17
;=   %38 = mul.i32 %37, %0
;=   %39 = bitcast.i16x2 %38
;=   %40 = bitcast.i32 %19
;=   %41 = mul.i32 %40, %0
;=   %42 = bitcast.i16x2 %41
;=   %43 = bitcast.i32 %21
;=   %44 = mul.i32 %43, %0
;=   %45 = bitcast.i16x2 %44
;=   %46 = const.i16x2 16351
;=   %47 = min_u.i16x2 %24, %46
;=   %48 = min_u.i16x2 %27, %46
;=   %49 = min_u.i16x2 %30, %46
;=   %50 = min_u.i16x2 %33, %46
;=   %51 = min_u.i16x2 %36, %46
;=   %52 = min_u.i16x2 %39, %46
;=   %53 = min_u.i16x2 %42, %46
;=   %54 = min_u.i16x2 %45, %46
;=   %55 = const.i16x2 32
;=   %56 = bitcast.i32 %55
;=   %57 = bitcast.i32 %47
;=   %58 = add.i32 %57, %56
;=   %59 = bitcast.i16x2 %58
;=   %60 = bitcast.i32 %48
;=   %61 = add.i32 %60, %56
;=   %62 = bitcast.i16x2 %61
;=   %63 = bitcast.i32 %49
;=   %64 = add.i32 %63, %56
;=   %65 = bitcast.i16x2 %64
;=   %66 = bitcast.i32 %50
;=   %67 = add.i32 %66, %56
;=   %68 = bitcast.i16x2 %67
;=   %69 = bitcast.i32 %51
;=   %70 = add.i32 %69, %56
;=   %71 = bitcast.i16x2 %70
;=   %72 = bitcast.i32 %52
;=   %73 = add.i32 %72, %56
;=   %74 = bitcast.i16x2 %73
;=   %75 = bitcast.i32 %53
;=   %76 = add.i32 %75, %56
;=   %77 = bitcast.i16x2 %76
;=   %78 = bitcast.i32 %54
;=   %79 = add.i32 %78, %56
;=   %80 = bitcast.i16x2 %79
;=   %81 = bitcast.i32 %59
;=   %82 = const.i32 6
;=   %83 = shr_u.i32 %81, %82
;=   %84 = bitcast.i8x4 %83
;=   %85 = bitcast.i32 %62
;=   %86 = shr_u.i32 %85, %82
;=   %87 = bitcast.i8x4 %86
;=   %88 = shuffle.i8x4 %84, %87, [0, 2, 4, 6]
;=   %89 = bitcast.i32 %65
;=   %90 = shr_u.i32 %89, %82
;=   %91 = bitcast.i8x4 %90
;=   %92 = bitcast.i32 %68
;=   %93 = shr_u.i32 %92, %82
;=   %94 = bitcast.i8x4 %93
;=   %95 = shuffle.i8x4 %91, %94, [0, 2, 4, 6]
;=   %96 = bitcast.i32 %71
;=   %97 = shr_u.i32 %96, %82
;=   %98 = bitcast.i8x4 %97
;=   %99 = bitcast.i32 %74
;=   %100 = shr_u.i32 %99, %82
;=   %101 = bitcast.i8x4 %100
;=   %102 = shuffle.i8x4 %98, %101, [0, 2, 4, 6]
;=   %103 = bitcast.i32 %77
;=   %104 = shr_u.i32 %103, %82
;=   %105 = bitcast.i8x4 %104
;=   %106 = bitcast.i32 %80
;=   %107 = shr_u.i32 %106, %82
;=   %108 = bitcast.i8x4 %107
;=   %109 = shuffle.i8x4 %105, %108, [0, 2, 4, 6]
;=   %r = concat.i8x16 %88, %95, %102, %109
;=   store %r, %o[%i]
;=   %110 = const.i16 6
;=   %111 = extract.i8x16 %a, 0
;=   %112 = extract.i8x16 %a, 1
;=   %113 = extract.i8x16 %a, 2
;=   %114 = extract.i8x16 %a, 3
;=   %115 = extract.i8x16 %a, 4
;=   %116 = extract.i8x16 %a, 5
;=   %117 = extract.i8x16 %a, 6
;=   %118 = extract.i8x16 %a, 7
;=   %119 = extract.i8x16 %a, 8
;=   %120 = extract.i8x16 %a, 9
;=   %121 = extract.i8x16 %a, 10
;=   %122 = extract.i8x16 %a, 11
;=   %123 = extract.i8x16 %a, 12
;=   %124 = extract.i8x16 %a, 13
;=   %125 = extract.i8x16 %a, 14
;=   %126 = extract.i8x16 %a, 15
;=   %127 = extract.i8x16 %b, 0
;=   %128 = extract.i8x16 %b, 1
;=   %129 = extract.i8x16 %b, 2
;=   %130 = extract.i8x16 %b, 3
;=   %131 = extract.i8x16 %b, 4
;=   %132 = extract.i8x16 %b, 5
;=   %133 = extract.i8x16 %b, 6
;=   %134 = extract.i8x16 %b, 7
;=   %135 = extract.i8x16 %b, 8
;=   %136 = extract.i8x16 %b, 9
;=   %137 = extract.i8x16 %b, 10
;=   %138 = extract.i8x16 %b, 11
;=   %139 = extract.i8x16 %b, 12
;=   %140 = extract.i8x16 %b, 13
;=   %141 = extract.i8x16 %b, 14
;=   %142 = extract.i8x16 %b, 15
;=   %143 = mul_wide_u.i8 %111, %127
;=   %144 = mul_wide_u.i8 %112, %128
;=   %145 = mul_wide_u.i8 %113, %129
;=   %146 = mul_wide_u.i8 %114, %130
;=   %147 = mul_wide_u.i8 %115, %131
;=   %148 = mul_wide_u.i8 %116, %132
;=   %149 = mul_wide_u.i8 %117, %133
;=   %150 = mul_wide_u.i8 %118, %134
;=   %151 = mul_wide_u.i8 %119, %135
;=   %152 = mul_wide_u.i8 %120, %136
;=   %153 = mul_wide_u.i8 %121, %137
;=   %154 = mul_wide_u.i8 %122, %138
;=   %155 = mul_wide_u.i8 %123, %139
;=   %156 = mul_wide_u.i8 %124, %140
;=   %157 = mul_wide_u.i8 %125, %141
;=   %158 = mul_wide_u.i8 %126, %142
;=   %159 = shr_u.i16 %143, %110
;=   %160 = shr_u.i16 %144, %110
;=   %161 = shr_u.i16 %145, %110
;=   %162 = shr_u.i16 %146, %110
;=   %163 = shr_u.i16 %147, %110
;=   %164 = shr_u.i16 %148, %110
;=   %165 = shr_u.i16 %149, %110
;=   %166 = shr_u.i16 %150, %110
;=   %167 = shr_u.i16 %151, %110
;=   %168 = shr_u.i16 %152, %110
;=   %169 = shr_u.i16 %153, %110
;=   %170 = shr_u.i16 %154, %110
;=   %171 = shr_u.i16 %155, %110
;=   %172 = shr_u.i16 %156, %110
;=   %173 = shr_u.i16 %157, %110
;=   %174 = shr_u.i16 %158, %110
;=   %175 = trunc.i8 %159
;=   %176 = trunc.i8 %160
;=   %177 = trunc.i8 %161
;=   %178 = trunc.i8 %162
;=   %179 = trunc.i8 %163
;=   %180 = trunc.i8 %164
;=   %181 = trunc.i8 %165
;=   %182 = trunc.i8 %166
;=   %183 = trunc.i8 %167
;=   %184 = trunc.i8 %168
;=   %185 = trunc.i8 %169
;=   %186 = trunc.i8 %170
;=   %187 = trunc.i8 %171
;=   %188 = trunc.i8 %172
;=   %189 = trunc.i8 %173
;=   %190 = trunc.i8 %174
;=   %191 = concat.i8x4 %175, %176, %177, %178
;=   %192 = concat.i8x4 %179, %180, %181, %182
;=   %193 = concat.i8x4 %183, %184, %185, %186
;=   %194 = concat.i8x4 %187, %188, %189, %190
;=   %q = concat.i8x16 %191, %192, %193, %194
;=   store %q, %p[%i]
;=   ret
;= }
