; Kernel 32 of seed 98200: halu (jit), launched again 3 times: Stats { issued: 2, backward_branches: 0, tiles: 0, bytes_in: 0, bytes_out: 0 }, alone Stats { issued: 1, backward_branches: 0, tiles: 0, bytes_in: 0, bytes_out: 0 }
kernel @random() {
^b1:
  ret
}
; run: halu, vp1, ptx: @random items=1
