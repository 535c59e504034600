; Smith-Waterman alignment of protein sequences, two alignments in the halves of a word. The
; best score of a cell is the maximum of these values: the diagonal neighbour plus the score of
; the two letters, a gap in either sequence, and 0. Halves are exact for integers up to 2048.
;
; Each item aligns a query with two sequences. A letter is a number below 32, and a table of 32 rows
; of 32 has the scores of two letters. The item computes one row of the matrix for each letter of the
; query. Letter k of the sequences of item i is pair i + k * item_count. Memory keeps the best scores
; and vertical gaps of the last row; it starts as 0. There is at least one row and one column.

fn letter(x: in i8, at: i32, k: const) -> i32 { zext.i32(x[at + k]) & 31 }

kernel smith_waterman_half(open: f16x2, extend: f16x2, rows: i32, columns: i32, query: in i8, sequences: in i8, table: in f16,
  best: inout f16x2, gap: inout f16x2, most: out f16x2) {
  let i = item_id()
  let items = item_count()
  var (r, greatest) = (0, 0f16x2)
  do {
    let row = letter(query, r, 0) << 5
    var (k, at, diagonal, left, gap_left) = (0, i, 0f16x2, 0f16x2, 0f16x2)
    do {
      let pair = at * 2
      let (a, b) = (letter(sequences, pair, 0), letter(sequences, pair, 1))
      let score = f16x2(table[row | a], table[row | b])
      let (above, gap_down) = (best[at], gap[at])
      let right = fmax(left - open, gap_left - extend)
      let down = fmax(above - open, gap_down - extend)
      let here = fmax(fmax(fmax(diagonal + score, right), down), 0.0)
      greatest = fmax(greatest, here)
      best[at] = here
      gap[at] = down
      diagonal = above
      left = here
      gap_left = right
      at += items
      k += 1
    } while k <_s columns
    r += 1
  } while r <_s rows
  most[i] = greatest
}

; run: halu, ptx: @smith_waterman_half items=2 open=11 extend=1 rows=3 columns=4 query=[0, 4, 2] sequences=[0, 1, 5, 5, 4, 0, 0, 2, 2, 4, 4, 9, 9, 2, 2, 2] table=@blosum62-f16.npy best=zeros(8) gap=zeros(8) most=zeros(2) -> most=[[19, 19], [19, 6]]
; run: halu, ptx: @smith_waterman_half items=33 open=3 extend=[1, 2] rows=5 columns=7 query=random(5, 381) sequences=random(462, 382) table=random(1024, 383) best=zeros(231) gap=zeros(231) most=zeros(33)

; Human haemoglobin alpha with beta and with myoglobin, by BLOSUM62.
; run: halu, ptx: @smith_waterman_half items=1 open=11 extend=1 rows=142 columns=154 query=@haemoglobin.npy sequences=@globins.npy table=@blosum62-f16.npy best=zeros(154) gap=zeros(154) most=zeros(1) -> most=[[288, 124]]
