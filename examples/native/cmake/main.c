#include <image.h>
#include <layers.h>
#include <stdio.h>

int main(void) {
    /* Four pixels are one word, the first of them lowest. */
    const uint32_t pixels[2] = {0xd8d76400u, 0xffffffffu};
    uint32_t lighter[2];
    struct halfbyte_trap trap;
    int32_t status = brighten(2, 0x28282828u, pixels, 2, lighter, 2, &trap);
    if (status != HALFBYTE_NATIVE_OK) {
        fprintf(stderr, "%s, item %u, line %u\n", halfbyte_native_message(status), trap.item, trap.line);
        return 1;
    }
    printf("%08x %08x\n", (unsigned)lighter[0], (unsigned)lighter[1]);
    const uint32_t x[1] = {0x3c003400u};
    uint32_t y[1];
    status = neuron(1, 0x40004000u, 0xbc00bc00u, x, 1, y, 1, NULL);
    printf("%d %08x\n", (int)status, (unsigned)y[0]);
    return 0;
}
