; Sorts eight elements for each item in ascending unsigned order, by insertion into a scratch array.
kernel sort_eight(x: inout i32) {
  scratch s: i32[8]
  let base = item_id() * 8
  var k = 0
  do {
    let v = x[base + k]
    var p = k
    while p != 0 {
      let q = p - 1
      let w = s[q]
      if w <=_u v { break }
      s[p] = w
      p = q
    }
    s[p] = v
    k += 1
  } while k <_u 8
  var g = 0
  do {
    x[base + g] = s[g]
    g += 1
  } while g <_u 8
}
; run: halu, ptx: @sort_eight items=2 x=[3, 1, 2, 8, 7, 6, 5, 4, 0, -1, 9, 9, 1, 0, 2, 5] -> x=[1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 1, 2, 5, 9, 9, -1]
; run: halu, ptx: @sort_eight items=20 x=random(160, 15)
