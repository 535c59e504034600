; Smith-Waterman alignment with affine gaps in biased bytes, four alignments in a word. Memory holds the columns of H and E; a table has the scores.

fn row(v: i8x4, k: const) -> i32 { zext.i32(extract(v, k)) << 3 }

kernel sw_bytes(qn: i32, dn: i32, n: i32, q: in i8, db: in i8x4, h: inout i8x4, e: inout i8x4, best: out i8x4, mat: in i8 = [10, 4, 5, 5, 5, 4, 7, 2, 4, 10, 3, 3, 2, 6, 7, 2, 5, 3, 10, 5, 4, 3, 4, 8, 5, 3, 5, 10, 3, 4, 6, 5, 5, 2, 4, 3, 10, 7, 3, 2, 4, 6, 3, 4, 7, 10, 3, 4, 7, 7, 4, 6, 3, 3, 10, 5, 2, 2, 8, 5, 2, 4, 5, 10]) {
  var (column, most) = (0, 0i8x4)
  let i = item_id()
  var word = i
  do {
    let v = db[word]
    let (r0, r1, r2, r3) = (row(v, 0), row(v, 1), row(v, 2), row(v, 3))
    var (k, diagonal, f, at) = (0, 0i8x4, 0i8x4, i)
    do {
      let letter = zext.i32(q[k])
      let score = i8x4(mat[r0 + letter], mat[r1 + letter], mat[r2 + letter], mat[r3 + letter])
      let (before, gap) = (h[at], e[at])
      let best_here = max_u(max_u(sub_sat_u(add_sat_u(diagonal, score), 4), gap), f)
      most = max_u(most, best_here)
      h[at] = best_here
      let opened = sub_sat_u(best_here, 5)
      e[at] = max_u(sub_sat_u(gap, 1), opened)
      f = max_u(sub_sat_u(f, 1), opened)
      diagonal = before
      at += n
      k += 1
    } while k <_s qn
    word += n
    column += 1
  } while column <_s dn
  best[i] = most
}

; run: halu, ptx: @sw_bytes items=1 qn=12 dn=10 n=1 q=[0, 3, 5, 7, 2, 1, 3, 1, 4, 6, 0, 2] db=[0x00010203, 0x03050704, 0x05030200, 0x07010201, 0x02040607, 0x01020304, 0x05000306, 0x01030200, 0x04060205, 0x06030004] h=zeros(13) e=zeros(13)
; run: vp1: @sw_bytes items=1 qn=6 dn=7 n=1 q=[0, 3, 5, 7, 2, 1] db=[0x00010203, 0x03050704, 0x05030200, 0x07010201, 0x02040607, 0x01020304, 0x05000306] h=zeros(7) e=zeros(7)
