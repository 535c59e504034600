#include "axpy.h"
#include <stdio.h>

int main(void) {
    const uint32_t grid[3] = {2, 1, 1}, block[3] = {2, 1, 1};
    /* Pairs of halves: 1, 3, 5, 7 and 1, 0, 0.5, 9, each twice. */
    const uint32_t x[4] = {0x3c003c00u, 0x42004200u, 0x45004500u, 0x47004700u};
    uint32_t y[4] = {0x3c003c00u, 0, 0x38003800u, 0x48804880u};
    struct halfbyte_trap trap;
    int32_t status = axpy(grid, block, 0x40004000u, x, 4, y, 4, 3, &trap);
    printf("%s: %08x %08x %08x %08x\n", halfbyte_native_message(status), y[0], y[1], y[2], y[3]);
    /* An element less than item 2 asks for. */
    status = axpy(grid, block, 0x40004000u, x, 2, y, 4, 3, &trap);
    printf("%s: item %u, line %u\n", halfbyte_native_message(status), trap.item, trap.line);
    return 0;
}
