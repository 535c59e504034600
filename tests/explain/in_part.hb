; explain: %b halu
; The operand could be a video instruction's lanes, if it came from one register.
kernel @k(%x: in i8x4, %y: inout i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = load %y[%i]
  %b = shuffle.i8x4 %a, %c, [0, 5, 2, 7]
  %r = add_sat_u.i8x4 %b, %a
  store %r, %y[%i]
  ret
}
;= %b = shuffle.i8x4 %a, %c, [0, 5, 2, 7]
;=   case.hb:8:3, @k, for halu
;=
;= passes
;=   no pass changes it
;=
;= selection
;=   %b = shuffle.i8x4 %a, %c, [0, 5, 2, 7]
;=     by shuffle_word (isel/rules/threads/lanes.isle:47), priority 0: (Shuffle (word ty) map a b)
;=     0006  0x00000000000000020000725001027816  PRMT R2, R1, 0x7250, R2 ;
;=
;= not taken
;=   by selection, for %r = add_sat_u.i8x4 %b, %a
;=     lanes_shuffled (isel/rules/halu/sources.isle:64), priority 3
;=       line 65: expected (first_operand_only ty map), found ty = i8x4
;=   by canon
;=     shuffle_first (lower/rules/simplify.isle:434), priority 5
;=       line 434: expected (keeps_first ty lanes), found ty = i8x4
;=     shuffle_second (lower/rules/simplify.isle:436), priority 4
;=       line 436: expected (keeps_second ty lanes), found ty = i8x4
;=     shuffle_splat (lower/rules/simplify.isle:439), priority 3
;=       line 439: expected (Splat _ _), found `%a = load %x[%i]`
;=     shuffle_self (lower/rules/simplify.isle:441), priority 2
;=       line 441: expected x, found `%c = load %y[%i]` where x = `%a = load %x[%i]`
;=     and 1 more; --all shows them
