// Calls halfbyte_ptx_run with randomly changed texts and launch shapes, on memory with checked
// bounds. Each call must return a status, and must not change any other memory. Usage: `hostile
// CALLS SEED`
#include "halfbyte.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t draw(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static size_t below(size_t count) {
    return (size_t)(draw() % count);
}

static const char *TEXTS[] = {
    ".version 8.3\n.target sm_90\n.address_size 64\n.global .align 8 .u32 seen[4] = {1, 2, 3, 4};\n.const .f32 half = 0f3F000000;\n"
    ".shared .align 16 .b8 tile[256];\n"
    ".visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; ld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
    "mad.lo.s32 %r4, %r2, %r3, %r1; setp.ge.s32 %p0, %r4, %r0;\n@%p0 bra done;\nmul.wide.s32 %d2, %r4, 4; add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;\n"
    "ld.global.u32 %r5, [%d3]; atom.global.add.u32 %r6, [seen+4], %r5; ld.const.f32 %f0, [half];\nmov.u32 %r7, tile; and.b32 %r8, %r1, 63; shl.b32 %r8, %r8, 2;\n"
    "add.u32 %r7, %r7, %r8; st.shared.u32 [%r7], %r5; bar.sync 0; ld.shared.u32 %r9, [%r7]; add.f16x2 %r10, %r9, %r5;\nst.global.u32 [%d4], %r10;\ndone:\nret;\n}\n",
    ".version 7.8\n.target sm_80\n.address_size 64\n.func (.reg .b32 r) twice(.reg .b32 a)\n{\nadd.u32 r, a, a; ret;\n}\n"
    ".entry k(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n.local .align 8 .b8 frame[64]; .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d0, [x]; mov.u32 %r0, 0;\nloop:\ncall (%r1), twice, (%r0); mul.wide.u32 %d1, %r0, 8; add.u64 %d2, %d0, %d1;\nst.u64 [%d2], %d1; mov.u64 %d3, frame; "
    "add.u64 %d3, %d3, %d1; st.local.u32 [%d3], %r1;\nadd.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 8; @%p bra loop;\nvote.sync.ballot.b32 %r2, %p, 0xffffffff;\n"
    "shfl.sync.bfly.b32 %r3, %r2, 1, 31, 0xffffffff; cp.async.wait_all; ret;\n}\n",
};

static const char *WORDS[] = {
    "0xffffffff", "-1", "ld.global.v4.u64", ".shared", ".param", "%r0", "%d0", "[", "]", "{", "}", ";", "@%p0 ", "bra", "call", "ret;", "18446744073709551615", ".b128",
    "atom.global.cas.b64", "bar.sync", "9999999999", "\"", "/*", "//", "\n", ".reg .b32 %q<2000000000>;", "tile[4294967295]", ".version 99.9", "0d7ff0000000000000", "\xc3\xa9",
};

#define COUNT(of) (sizeof of / sizeof *of)

// Returns a PTX text with random changes.
static char *changed(void) {
    const char *from = TEXTS[below(COUNT(TEXTS))];
    size_t length = strlen(from);
    char *text = malloc(length + 1024);
    memcpy(text, from, length + 1);
    for (size_t changes = below(4); changes > 0; changes--) {
        const size_t at = below(length);
        switch (below(4)) {
        case 0:
            text[at] = (char)(1 + below(255));
            break;
        case 1: {
            const size_t count = 1 + below(length - at < 24 ? length - at : 24);
            memmove(text + at, text + at + count, length - at - count + 1);
            length -= count;
            break;
        }
        case 2: {
            const char *word = WORDS[below(COUNT(WORDS))];
            const size_t count = strlen(word);
            memmove(text + at + count, text + at, length - at + 1);
            memcpy(text + at, word, count);
            length += count;
            break;
        }
        default:
            // Replaces the first digit from position `at` on by another digit.
            for (size_t i = at; i < length; i++) {
                if (text[i] >= '0' && text[i] <= '9') {
                    text[i] = (char)('0' + below(10));
                    break;
                }
            }
        }
        if (length < 32) break;
    }
    return text;
}

enum { GUARD = 64, WORDS_OF_BUFFER = 256 };

static uint32_t memory[2][GUARD + WORDS_OF_BUFFER + GUARD];

static bool bounds(void *user, uint64_t address, uint64_t *start, uint64_t *bytes) {
    (void)user;
    for (int i = 0; i < 2; i++) {
        *start = (uint64_t)(uintptr_t)&memory[i][GUARD];
        *bytes = WORDS_OF_BUFFER * sizeof(uint32_t);
        if (address >= *start && address < *start + *bytes) return true;
    }
    return false;
}

static int number(void) {
    static const int EDGES[] = {0, 1, -1, 2, 31, 32, 33, 1024, 1025, 65535, 65536, 2147483647, -2147483647};
    return below(4) == 0 ? EDGES[below(COUNT(EDGES))] : (int)(1 + below(8));
}

int main(int argc, char **argv) {
    const long calls = argc > 1 ? atol(argv[1]) : 1000;
    state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    state = state * 0x9e3779b97f4a7c15u + 1;
    halfbyte_options *options = halfbyte_options_new_strict();
    halfbyte_options_set_limit(options, HALFBYTE_LIMIT_ITEMS, 4096);
    halfbyte_options_set_limit(options, HALFBYTE_LIMIT_WORK, 1 << 17);
    halfbyte_options_set_limit(options, HALFBYTE_LIMIT_BUDGET, 1 << 10);
    halfbyte_ptx_set_options(options);
    halfbyte_options_free(options);
    halfbyte_ptx_set_bounds(bounds, NULL);
    memset(memory, 0x5a, sizeof memory);
    long done[16] = {0};
    for (long call = 0; call < calls; call++) {
        char *text = changed();
        const void *args[4] = {&memory[0][GUARD], &memory[1][GUARD], (const void *)(uintptr_t)below(300), NULL};
        if (below(8) == 0) args[below(3)] = (const void *)(uintptr_t)draw();
        const int count = below(16) == 0 ? number() % 5 : 3;
        const int status = halfbyte_ptx_run(text, count, args, number(), below(8) == 0 ? number() : 1, 1, number(), below(8) == 0 ? number() : 1, 1, below(8) == 0 ? number() : 0);
        if (status < 0 || status > HALFBYTE_STATUS_INTERNAL || (status == 0) != (halfbyte_ptx_last_error() == NULL)) return printf("status %d\n", status), 1;
        if (status == HALFBYTE_STATUS_INTERNAL) return printf("%s\n%s\n", halfbyte_error_display(halfbyte_ptx_last_error()), text), 1;
        done[status]++;
        free(text);
    }
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < GUARD; k++) {
            if (memory[i][k] != 0x5a5a5a5a || memory[i][GUARD + WORDS_OF_BUFFER + k] != 0x5a5a5a5a) return puts("memory outside of the buffers was written"), 1;
        }
    }
    halfbyte_ptx_set_options(NULL);
    halfbyte_ptx_set_bounds(NULL, NULL);
    halfbyte_ptx_reset();
    for (int status = 0; status <= HALFBYTE_STATUS_INTERNAL; status++) {
        if (done[status] != 0) printf("status %d: %ld calls\n", status, done[status]);
    }
    return 0;
}
