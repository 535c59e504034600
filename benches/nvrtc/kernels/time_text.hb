; The time of day as text, hh:mm:ss, of seconds since an epoch. Each item writes eight characters.
fn digit(n: i32) -> i8 { trunc(n + 48) }

kernel time_text(seconds: in i32, text: out i8x4) {
  let i = item_id()
  let t = seconds[i]
  let (h, m, s) = (rem_u(t /_u 3600, 24), rem_u(t /_u 60, 60), rem_u(t, 60))
  text[2 * i] = i8x4(digit(h /_u 10), digit(rem_u(h, 10)), 58, digit(m /_u 10))
  text[2 * i + 1] = i8x4(digit(rem_u(m, 10)), 58, digit(s /_u 10), digit(rem_u(s, 10)))
}
; run: halu, ptx: @time_text items=256 seconds=random(256, 1) text=zeros(512)
