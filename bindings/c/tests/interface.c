// Tests each function of halfbyte.h. Prints "ok" if all checks pass.
#include "halfbyte.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(what)                                                  \
    do {                                                             \
        if (!(what)) {                                               \
            printf("line %d: not so: %s\n", __LINE__, #what);        \
            failures++;                                              \
        }                                                            \
    } while (0)

// Checks that an error has the given status and line, and that its message contains the given text.
// Frees the error.
static void wrong_at(int line, halfbyte_error *error, halfbyte_status status, uint32_t at, const char *words) {
    const char *message = halfbyte_error_message(error);
    if (error == NULL || halfbyte_error_status(error) != status || halfbyte_error_line(error) != at || strstr(message, words) == NULL ||
        strstr(halfbyte_error_display(error), words) == NULL) {
        printf("line %d: status %d, line %u: %s\n%s\n", line, (int)halfbyte_error_status(error), halfbyte_error_line(error), message,
               halfbyte_error_display(error));
        failures++;
    }
    halfbyte_error_free(error);
}

#define WRONG(error, status, at, words) wrong_at(__LINE__, error, status, at, words)

static const char *SCALE = "kernel @scale(%a: f16x2, %x: inout f16x2) {\n"
                           "^entry:\n"
                           "  %i = item_id\n"
                           "  %v = load %x[%i]\n"
                           "  %r = fmul.f16x2 %a, %v\n"
                           "  store %r, %x[%i]\n"
                           "  ret\n"
                           "}\n";

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static halfbyte_arg value(const void *data, size_t bytes) {
    return (halfbyte_arg){HALFBYTE_ARG_VALUE, 0, (void *)data, bytes, 0};
}

static halfbyte_arg memory(uint32_t kind, void *data, size_t bytes) {
    return (halfbyte_arg){kind, 0, data, bytes, 0};
}

static void compiles_and_launches(void) {
    halfbyte_error *error = NULL;
    halfbyte_module *module = NULL;
    CHECK(halfbyte_module_parse("scale.hb", SCALE, HALFBYTE_TO_NUL, NULL, &module, &error) == HALFBYTE_STATUS_OK && error == NULL);
    CHECK(halfbyte_module_kernels(module) == 1);
    halfbyte_object *object = NULL;
    CHECK(halfbyte_module_compile(module, "halu", 0, NULL, &object, &error) == HALFBYTE_STATUS_OK);
    size_t length = 0;
    const uint8_t *bytes = halfbyte_object_bytes(object, &length);
    halfbyte_program *loaded = NULL, *built = NULL;
    CHECK(halfbyte_program_load(bytes, length, &loaded, &error) == HALFBYTE_STATUS_OK);
    halfbyte_object_free(object);
    CHECK(halfbyte_program_build(module, "ptx", 80, NULL, &built, &error) == HALFBYTE_STATUS_OK);
    halfbyte_module_free(module);
    CHECK(halfbyte_program_kernels(loaded) == 1 && strcmp(halfbyte_program_kernel(loaded, 0), "scale") == 0);
    CHECK(halfbyte_program_kernel(loaded, 1) == NULL);
    halfbyte_options *jit = halfbyte_options_new();
    CHECK(halfbyte_options_set_engine(jit, HALFBYTE_ENGINE_JIT, 1) == HALFBYTE_STATUS_OK);
    // Each launch halves the numbers 1, 2, 3 and 4 in place.
    uint16_t a[2] = {0x3800, 0x3800}, x[4] = {0x3c00, 0x4000, 0x4200, 0x4400};
    const uint16_t quarter[4] = {0x3400, 0x3800, 0x3a00, 0x3c00}, eighth[4] = {0x3000, 0x3400, 0x3600, 0x3800};
    halfbyte_arg args[2] = {value(a, sizeof a), memory(HALFBYTE_ARG_BUFFER, x, sizeof x)};
    halfbyte_stats stats;
    CHECK(halfbyte_program_launch(loaded, "scale", halfbyte_items(2), args, 2, NULL, &stats, &error) == HALFBYTE_STATUS_OK);
    CHECK(stats.issued > 0);
    CHECK(halfbyte_program_launch(built, "scale", halfbyte_items(2), args, 2, NULL, NULL, NULL) == HALFBYTE_STATUS_OK);
    CHECK(memcmp(x, quarter, sizeof x) == 0);
    CHECK(halfbyte_program_launch(loaded, "scale", halfbyte_items(2), args, 2, jit, NULL, &error) == HALFBYTE_STATUS_OK);
    CHECK(memcmp(x, eighth, sizeof x) == 0);
    // Item 2 loads beyond the end of the buffer, so the launch traps.
    halfbyte_program_launch(built, "scale", halfbyte_items(3), args, 2, NULL, NULL, &error);
    CHECK(strcmp(halfbyte_error_file(error), "scale.hb") == 0 && halfbyte_error_column(error) == 3);
    CHECK(strstr(halfbyte_error_display(error), "%v = load %x[%i]") != NULL);
    WRONG(error, HALFBYTE_STATUS_TRAP, 4, "out of bounds: byte 8 of buffer `x`");
    halfbyte_program_launch(loaded, "scale", halfbyte_items(3), args, 2, NULL, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_TRAP, 4, "out of bounds");
    halfbyte_program_launch(loaded, "scale", halfbyte_items(2), args, 1, NULL, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_ARGUMENTS, 0, "takes 2 arguments; found 1");
    halfbyte_program_launch(loaded, "scales", halfbyte_items(2), args, 2, NULL, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_NOT_FOUND, 0, "no kernel `@scales`; the program has @scale");
    halfbyte_arg twice[2] = {value(x, 4), memory(HALFBYTE_ARG_BUFFER, x, sizeof x)};
    halfbyte_program_launch(loaded, "scale", halfbyte_items(2), twice, 2, NULL, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_ARGUMENTS, 0, "args[0] and args[1] overlap");
    args[1].kind = 77;
    halfbyte_program_launch(loaded, "scale", halfbyte_items(2), args, 2, NULL, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_INVALID_ARGUMENT, 0, "args[1].kind is 77");
    CHECK(halfbyte_program_launch(built, "scale", halfbyte_items(2), args, 2, jit, NULL, NULL) != HALFBYTE_STATUS_OK);
    halfbyte_options_free(jit);
    halfbyte_program_free(loaded);
    halfbyte_program_free(built);
}

static const char *FUSED = "kernel @k(%x: inout f32) {\n^entry:\n  %i = item_id\n  %a = load %x[%i]\n"
                            "  %b = ffma.f32 %a, %a, %a\n  store %b, %x[%i]\n  ret\n}\n";

static void says_what_is_wrong(void) {
    halfbyte_error *error = NULL;
    halfbyte_module *module = (halfbyte_module *)1;
    halfbyte_module_parse("k.hb", "kernel @k() {\n^entry:\n  frob\n  ret\n}\n", HALFBYTE_TO_NUL, NULL, &module, &error);
    CHECK(module == NULL && strstr(halfbyte_error_display(error), "k.hb:3:3") != NULL);
    WRONG(error, HALFBYTE_STATUS_PARSE, 3, "frob");
    halfbyte_module_parse(NULL, "\xff", 1, NULL, &module, &error);
    WRONG(error, HALFBYTE_STATUS_INVALID_ARGUMENT, 0, "`text` is not valid UTF-8 at byte 0");
    halfbyte_module_parse(NULL, NULL, 4, NULL, &module, &error);
    WRONG(error, HALFBYTE_STATUS_INVALID_ARGUMENT, 0, "`text` is null");
    halfbyte_module_parse(NULL, SCALE, SIZE_MAX - 1, NULL, &module, &error);
    WRONG(error, HALFBYTE_STATUS_INVALID_ARGUMENT, 0, "exceeds the address space");
    halfbyte_module_parse(NULL, SCALE, HALFBYTE_TO_NUL, NULL, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_INVALID_ARGUMENT, 0, "`out` is null");
    CHECK(halfbyte_module_parse(NULL, SCALE, 12, NULL, &module, NULL) == HALFBYTE_STATUS_PARSE);
    CHECK(halfbyte_module_parse(NULL, SCALE, HALFBYTE_TO_NUL, NULL, &module, NULL) == HALFBYTE_STATUS_OK);
    halfbyte_program *program = NULL;
    halfbyte_module *fused = NULL;
    CHECK(halfbyte_module_parse(NULL, FUSED, HALFBYTE_TO_NUL, NULL, &fused, NULL) == HALFBYTE_STATUS_OK);
    halfbyte_program_build(fused, "vp1", 0, NULL, &program, &error);
    WRONG(error, HALFBYTE_STATUS_REFUSED, 5, "ffma");
    halfbyte_module_free(fused);
    halfbyte_program_build(module, "frob", 0, NULL, &program, &error);
    WRONG(error, HALFBYTE_STATUS_NOT_FOUND, 0, "expected one of halu, vp1 or ptx");
    halfbyte_program_build(module, "ptx", 12, NULL, &program, &error);
    WRONG(error, HALFBYTE_STATUS_NOT_FOUND, 0, "no sm_12");
    halfbyte_program_build(NULL, "ptx", 0, NULL, &program, &error);
    WRONG(error, HALFBYTE_STATUS_INVALID_ARGUMENT, 0, "`module` is null");
    CHECK(program == NULL);
    halfbyte_module_free(module);
    halfbyte_program_load((const uint8_t *)"ELF", 3, &program, &error);
    WRONG(error, HALFBYTE_STATUS_LOAD, 0, "not an object");
    // All functions that free a handle or query it accept null.
    halfbyte_module_free(NULL);
    halfbyte_object_free(NULL);
    halfbyte_program_free(NULL);
    halfbyte_ptx_free(NULL);
    halfbyte_options_free(NULL);
    halfbyte_cancel_free(NULL);
    halfbyte_error_free(NULL);
    halfbyte_cancel_request(NULL);
    CHECK(halfbyte_error_status(NULL) == HALFBYTE_STATUS_OK && *halfbyte_error_message(NULL) == 0 && *halfbyte_error_display(NULL) == 0);
    CHECK(halfbyte_module_kernels(NULL) == 0 && halfbyte_program_kernels(NULL) == 0 && halfbyte_object_bytes(NULL, NULL) == NULL);
    CHECK(halfbyte_options_set_limit(NULL, HALFBYTE_LIMIT_WORK, 1) == HALFBYTE_STATUS_INVALID_ARGUMENT);
    halfbyte_options *options = halfbyte_options_new_strict();
    CHECK(halfbyte_options_set_limit(options, 99, 1) == HALFBYTE_STATUS_INVALID_ARGUMENT);
    CHECK(halfbyte_options_set_engine(options, 99, 1) == HALFBYTE_STATUS_INVALID_ARGUMENT);
    CHECK(halfbyte_options_set_engine(options, HALFBYTE_ENGINE_JIT, 0) == HALFBYTE_STATUS_INVALID_ARGUMENT);
    CHECK(halfbyte_options_set_limit(options, HALFBYTE_LIMIT_TEXT_BYTES, 10) == HALFBYTE_STATUS_OK);
    halfbyte_module_parse(NULL, SCALE, HALFBYTE_TO_NUL, options, &module, &error);
    WRONG(error, HALFBYTE_STATUS_LIMIT, 0, "the limit is 10");
    halfbyte_options_free(options);
}

// A kernel that adds 1 to each number, counts its launches in a variable, and prints the count.
static const char *COUNTS = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                            ".global .u32 launches;\n"
                            ".global .align 1 .b8 words[9] = {114, 117, 110, 32, 37, 100, 10, 0, 0};\n"
                            ".visible .entry counts(.param .u64 x, .param .u32 n)\n{\n"
                            ".local .align 8 .b8 frame[8]; .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
                            "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;\n"
                            "ld.param.u32 %r4, [n]; setp.ge.u32 %p, %r3, %r4; @%p ret;\n"
                            "ld.param.u64 %d0, [x]; cvta.to.global.u64 %d0, %d0; mad.wide.u32 %d1, %r3, 4, %d0;\n"
                            "ld.global.u32 %r5, [%d1]; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;\n"
                            "setp.ne.u32 %p, %r3, 0; @%p ret;\n"
                            "ld.global.u32 %r6, [launches]; add.u32 %r6, %r6, 1; st.global.u32 [launches], %r6;\n"
                            "st.local.u32 [frame], %r6; mov.u64 %d2, frame; cvta.local.u64 %d2, %d2;\n"
                            "mov.u64 %d3, words; cvta.global.u64 %d3, %d3;\n"
                            "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d3; st.param.b64 [b], %d2;\n"
                            "call (r), vprintf, (a, b); }\n"
                            "ret;\n}\n"
                            ".visible .entry forever()\n{\nloop:\nbra loop;\n}\n"
                            ".visible .entry paints(.param .u64 s)\n{\n.reg .b32 %r<2>;\nsuld.b.1d.b32.trap {%r0}, [s, {%r1}];\nret;\n}\n";

static char *ptx_of(const char *body) {
    char *text = malloc(strlen(HEAD) + strlen(body) + 1);
    strcpy(text, HEAD);
    return strcat(text, body);
}

static const char *STORES = ".visible .entry stores(.param .u64 x)\n{\n.reg .b64 %d<2>;\nld.param.u64 %d0, [x];\n"
                            "st.global.u32 [%d0], 5;\nret;\n}\n";

static void take_text(void *user, const char *text) {
    strncat(user, text, 63 - strlen(user));
}

static void *cancel(void *token) {
    halfbyte_cancel_request(token);
    return NULL;
}

// Tests that two stores of the same value by the same instruction give a warning, and an error in a
// strict race check.
static void warns_of_same_values(void) {
    char *text = ptx_of(STORES), warning[64] = "";
    halfbyte_error *error = NULL;
    halfbyte_ptx *ptx = NULL;
    CHECK(halfbyte_ptx_load("stores.ptx", text, strlen(text), NULL, &ptx, &error) == HALFBYTE_STATUS_OK);
    free(text);
    halfbyte_options *options = halfbyte_options_new();
    CHECK(halfbyte_options_set_warn(options, take_text, warning) == HALFBYTE_STATUS_OK);
    uint32_t x = 0;
    halfbyte_arg args[1] = {memory(HALFBYTE_ARG_BUFFER, &x, sizeof x)};
    const halfbyte_shape shape = {{1, 1, 1}, {2, 1, 1}, 0};
    CHECK(halfbyte_ptx_launch(ptx, NULL, shape, args, 1, options, NULL, &error) == HALFBYTE_STATUS_OK);
    CHECK(x == 5 && warning[0] == 0);
    CHECK(halfbyte_options_set_races(options, HALFBYTE_RACES_ON) == HALFBYTE_STATUS_OK);
    x = 0;
    CHECK(halfbyte_ptx_launch(ptx, NULL, shape, args, 1, options, NULL, &error) == HALFBYTE_STATUS_OK);
    CHECK(x == 5 && strncmp(warning, "warning: on ptx: @stores, item 1: data race: store", 50) == 0);
    CHECK(halfbyte_options_set_races(options, HALFBYTE_RACES_STRICT) == HALFBYTE_STATUS_OK);
    halfbyte_ptx_launch(ptx, NULL, shape, args, 1, options, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_TRAP, 8, "which is also written by item 0 with the same value");
    CHECK(halfbyte_options_set_races(options, 3) == HALFBYTE_STATUS_INVALID_ARGUMENT);
    halfbyte_options_free(options);
    halfbyte_ptx_free(ptx);
}

static void runs_ptx(void) {
    char *text = ptx_of(COUNTS), printed[64] = "";
    halfbyte_error *error = NULL;
    halfbyte_ptx *ptx = NULL;
    CHECK(halfbyte_ptx_load("counts.ptx", text, strlen(text), NULL, &ptx, &error) == HALFBYTE_STATUS_OK);
    free(text);
    halfbyte_options *options = halfbyte_options_new();
    CHECK(halfbyte_options_set_print(options, take_text, printed) == HALFBYTE_STATUS_OK);
    CHECK(halfbyte_options_set_races(options, HALFBYTE_RACES_ON) == HALFBYTE_STATUS_OK);
    uint32_t x[6] = {0, 1, 2, 3, 4, 5}, n = 6;
    halfbyte_arg args[2] = {memory(HALFBYTE_ARG_BUFFER, x, sizeof x), value(&n, sizeof n)};
    const halfbyte_shape shape = {{2, 1, 1}, {4, 1, 1}, 0};
    for (int launch = 0; launch < 2; launch++) {
        CHECK(halfbyte_ptx_launch(ptx, launch == 0 ? NULL : "counts", shape, args, 2, options, NULL, &error) == HALFBYTE_STATUS_OK);
    }
    for (uint32_t i = 0; i < 6; i++) CHECK(x[i] == i + 2);
    CHECK(strcmp(printed, "run 1\nrun 2\n") == 0);
    n = 7;
    halfbyte_ptx_launch(ptx, "counts", shape, args, 2, options, NULL, &error);
    CHECK(strcmp(halfbyte_error_file(error), "counts.ptx") == 0 && strstr(halfbyte_error_display(error), "^^^") != NULL);
    WRONG(error, HALFBYTE_STATUS_TRAP, 13, "byte 24 of buffer `x`, which has 24");
    halfbyte_ptx_launch(ptx, "counts", (halfbyte_shape){{1, 1, 1}, {1025, 1, 1}, 0}, args, 2, NULL, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_ARGUMENTS, 0, "exceeds the limits of a GPU");
    halfbyte_ptx_launch(ptx, "paints", shape, args, 1, NULL, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_PARSE, 30, "a surface (`suld`) is not supported");
    halfbyte_ptx_launch(ptx, "nothing", shape, args, 1, NULL, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_NOT_FOUND, 0, "there is no kernel `nothing`");
    // Calls end when they exceed a limit or are cancelled.
    CHECK(halfbyte_options_set_limit(options, HALFBYTE_LIMIT_BUDGET, 1000) == HALFBYTE_STATUS_OK);
    halfbyte_ptx_launch(ptx, "forever", shape, NULL, 0, options, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_LIMIT, 25, "more than 1000 backward branches");
    CHECK(halfbyte_options_set_limit(options, HALFBYTE_LIMIT_BUDGET, UINT64_MAX) == HALFBYTE_STATUS_OK);
    CHECK(halfbyte_options_set_limit(options, HALFBYTE_LIMIT_TIME_MS, 30) == HALFBYTE_STATUS_OK);
    halfbyte_ptx_launch(ptx, "forever", shape, NULL, 0, options, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_LIMIT, 0, "not done after 0.03 s");
    CHECK(halfbyte_options_set_limit(options, HALFBYTE_LIMIT_TIME_MS, UINT64_MAX) == HALFBYTE_STATUS_OK);
    halfbyte_cancel *token = halfbyte_cancel_new();
    CHECK(halfbyte_options_set_cancel(options, token) == HALFBYTE_STATUS_OK);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, cancel, token) == 0);
    halfbyte_ptx_launch(ptx, "forever", shape, NULL, 0, options, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_CANCELLED, 0, "cancelled");
    pthread_join(other, NULL);
    halfbyte_cancel_free(token);
    halfbyte_options_free(options);
    halfbyte_ptx_free(ptx);
    halfbyte_ptx_load(NULL, ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { frob; }", HALFBYTE_TO_NUL, NULL, &ptx, &error);
    WRONG(error, HALFBYTE_STATUS_PARSE, 4, "unknown instruction `frob`");
}

static uint32_t *numbers;

static bool bounds(void *user, uint64_t address, uint64_t *start, uint64_t *bytes) {
    *start = (uint64_t)(uintptr_t)numbers;
    *bytes = *(const uint64_t *)user;
    return address >= *start && address < *start + *bytes;
}

// Every thread stores its number to the same word, in line 7 of sum.cu.
static const char RACE[] = HEAD ".file 1 \"sum.cu\"\n.entry k(.param .u64 out) {\n.reg .b64 %d; .reg .b32 %r;\n.loc 1 7 0\n"
    "ld.param.u64 %d, [out];\nmov.u32 %r, %tid.x;\nst.global.u32 [%d], %r;\nret;\n}\n";

static void finds_races_on_pointers(void) {
    uint32_t word = 0;
    const void *args[1] = {&word};
    halfbyte_options *options = halfbyte_options_new();
    for (uint32_t races = HALFBYTE_RACES_OFF; races <= HALFBYTE_RACES_ON; races++) {
        CHECK(halfbyte_options_set_races(options, races) == HALFBYTE_STATUS_OK);
        halfbyte_ptx_set_options(options);
        const int expected = races == HALFBYTE_RACES_OFF ? HALFBYTE_STATUS_OK : HALFBYTE_STATUS_TRAP;
        CHECK(halfbyte_ptx_run(RACE, 1, args, 4, 1, 1, 1, 1, 1, 0) == expected);
    }
    CHECK(strcmp(halfbyte_error_trap_kind(halfbyte_ptx_last_error()), "race-global") == 0);
    CHECK(strcmp(halfbyte_error_trap_source(halfbyte_ptx_last_error()), "sum.cu:7") == 0);
    halfbyte_options_free(options);
    halfbyte_ptx_set_options(NULL);
}

static void runs_on_pointers(void) {
    char *text = ptx_of(COUNTS), printed[64] = "";
    uint64_t size = 6 * sizeof *numbers;
    numbers = calloc(8, sizeof *numbers);
    const void *args[2] = {numbers, (const void *)(uintptr_t)6};
    halfbyte_options *options = halfbyte_options_new();
    halfbyte_options_set_print(options, take_text, printed);
    halfbyte_ptx_set_options(options);
    halfbyte_options_free(options);
    for (int bounded = 0; bounded < 2; bounded++) {
        halfbyte_ptx_set_bounds(bounded ? bounds : NULL, &size);
        CHECK(halfbyte_ptx_run(text, 2, args, 4, 1, 1, 2, 1, 1, 0) == HALFBYTE_STATUS_OK);
        CHECK(halfbyte_ptx_last_error() == NULL);
    }
    for (int i = 0; i < 8; i++) CHECK(numbers[i] == (i < 6 ? 2 : 0));
    // Variables of a PTX text keep their values until halfbyte_ptx_reset.
    halfbyte_ptx_reset();
    CHECK(halfbyte_ptx_run(text, 2, args, 4, 1, 1, 2, 1, 1, 0) == HALFBYTE_STATUS_OK);
    CHECK(strcmp(printed, "run 1\nrun 2\nrun 1\n") == 0);
    args[1] = (const void *)(uintptr_t)7;
    CHECK(halfbyte_ptx_run(text, 2, args, 4, 1, 1, 2, 1, 1, 0) == HALFBYTE_STATUS_TRAP && numbers[6] == 0);
    CHECK(halfbyte_error_line(halfbyte_ptx_last_error()) == 13);
    uint32_t block[3] = {0}, thread[3] = {0};
    CHECK(strcmp(halfbyte_error_trap_kind(halfbyte_ptx_last_error()), "out-of-bounds-global") == 0);
    CHECK(halfbyte_error_trap_item(halfbyte_ptx_last_error(), &block, &thread) && block[0] == 1 && thread[0] == 2);
    CHECK(*halfbyte_error_trap_source(halfbyte_ptx_last_error()) == 0);
    args[0] = NULL;
    halfbyte_ptx_set_bounds(NULL, NULL);
    CHECK(halfbyte_ptx_run(text, 2, args, 4, 1, 1, 2, 1, 1, 0) == HALFBYTE_STATUS_TRAP);
    CHECK(strstr(halfbyte_error_message(halfbyte_ptx_last_error()), "global address 0x0 is out of bounds") != NULL);
    CHECK(halfbyte_ptx_run(text, 1, args, 4, 1, 1, 2, 1, 1, 0) == HALFBYTE_STATUS_ARGUMENTS);
    CHECK(halfbyte_ptx_run(text, 2, args, -4, 1, 1, 2, 1, 1, 0) == HALFBYTE_STATUS_INVALID_ARGUMENT);
    CHECK(halfbyte_ptx_run(text, 2, NULL, 4, 1, 1, 2, 1, 1, 0) == HALFBYTE_STATUS_INVALID_ARGUMENT);
    CHECK(halfbyte_ptx_run(NULL, 0, NULL, 4, 1, 1, 2, 1, 1, 0) == HALFBYTE_STATUS_INVALID_ARGUMENT);
    CHECK(halfbyte_ptx_run("", 0, NULL, 4, 1, 1, 2, 1, 1, 0) == HALFBYTE_STATUS_PARSE);
    CHECK(*halfbyte_error_trap_kind(halfbyte_ptx_last_error()) == 0 && *halfbyte_error_trap_source(NULL) == 0);
    CHECK(!halfbyte_error_trap_item(halfbyte_ptx_last_error(), NULL, NULL));
    // A text whose variables were written stays in the cache, while thousands of other texts are
    // evicted.
    halfbyte_ptx_reset();
    numbers[0] = 0;
    args[0] = numbers, args[1] = (const void *)(uintptr_t)1, printed[0] = 0;
    halfbyte_ptx_run(text, 2, args, 1, 1, 1, 1, 1, 1, 0);
    for (int i = 0; i < 1000; i++) {
        char other[160];
        snprintf(other, sizeof other, "%s.global .u32 unwritten = %d;\n.entry k() { ret; }\n", HEAD, i);
        CHECK(halfbyte_ptx_run(other, 0, NULL, 1, 1, 1, 1, 1, 1, 0) == HALFBYTE_STATUS_OK);
    }
    halfbyte_ptx_run(text, 2, args, 1, 1, 1, 1, 1, 1, 0);
    CHECK(strcmp(printed, "run 1\nrun 2\n") == 0);
    halfbyte_ptx_set_options(NULL);
    halfbyte_ptx_reset();
    free(numbers);
    free(text);
}

// A kernel whose blocks wait for each other, and then store the number of blocks that have arrived.
static const char *WAITS = ".visible .entry waits(.param .u64 x)\n{\n.reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>;\n"
                           "ld.param.u64 %d0, [x]; cvta.to.global.u64 %d0, %d0; mov.u32 %r0, %nctaid.x; mov.u32 %r1, %ctaid.x;\n"
                           "atom.global.add.u32 %r2, [%d0], 1;\n"
                           "again:\nld.volatile.global.u32 %r3, [%d0]; setp.lt.u32 %p, %r3, %r0; @%p bra again;\n"
                           "mad.wide.u32 %d1, %r1, 4, %d0; st.global.u32 [%d1+4], %r3;\nret;\n}\n";

static void launches_cooperatively(void) {
    char *text = ptx_of(WAITS);
    halfbyte_error *error = NULL;
    halfbyte_ptx *ptx = NULL;
    halfbyte_options *options = halfbyte_options_new();
    uint32_t x[4] = {0};
    halfbyte_arg args[1] = {memory(HALFBYTE_ARG_BUFFER, x, sizeof x)};
    const halfbyte_shape shape = {{3, 1, 1}, {1, 1, 1}, 0};
    CHECK(halfbyte_ptx_load("waits.ptx", text, HALFBYTE_TO_NUL, NULL, &ptx, &error) == HALFBYTE_STATUS_OK);
    halfbyte_ptx_launch(ptx, NULL, shape, args, 1, options, NULL, &error);
    CHECK(strstr(halfbyte_error_display(error), "--cooperative") != NULL);
    WRONG(error, HALFBYTE_STATUS_TRAP, 10, "deadlock");
    CHECK(halfbyte_options_set_cooperative(options, true) == HALFBYTE_STATUS_OK);
    CHECK(halfbyte_options_set_cooperative(NULL, true) == HALFBYTE_STATUS_INVALID_ARGUMENT);
    x[0] = 0;
    CHECK(halfbyte_ptx_launch(ptx, NULL, shape, args, 1, options, NULL, &error) == HALFBYTE_STATUS_OK);
    for (int i = 0; i < 4; i++) CHECK(x[i] == 3);
    const void *pointers[1] = {x};
    x[0] = 0;
    halfbyte_ptx_set_options(options);
    CHECK(halfbyte_ptx_run(text, 1, pointers, 1, 1, 1, 3, 1, 1, 0) == HALFBYTE_STATUS_OK);
    for (int i = 0; i < 4; i++) CHECK(x[i] == 3);
    halfbyte_ptx_launch(ptx, NULL, (halfbyte_shape){{1 << 24, 1, 1}, {16, 1, 1}, 0}, args, 1, options, NULL, &error);
    WRONG(error, HALFBYTE_STATUS_LIMIT, 0, "the 16777216 blocks of a cooperative launch take");
    halfbyte_ptx_set_options(NULL);
    halfbyte_ptx_reset();
    halfbyte_options_free(options);
    halfbyte_ptx_free(ptx);
    free(text);
}

static void *launch_often(void *ptx) {
    for (int i = 0; i < 20; i++) {
        uint32_t x = 0, n = 0;
        halfbyte_arg args[2] = {memory(HALFBYTE_ARG_BUFFER, &x, sizeof x), value(&n, sizeof n)};
        if (halfbyte_ptx_launch(ptx, NULL, halfbyte_items(4), args, 2, NULL, NULL, NULL) != HALFBYTE_STATUS_OK) return ptx;
        char text[160];
        snprintf(text, sizeof text, "%s.entry k() { .reg .b32 %%r; mov.b32 %%r, %d; ret; }\n", HEAD, i);
        if (halfbyte_ptx_run(text, 0, NULL, 1, 1, 1, 1, 1, 1, 0) != 0) return ptx;
    }
    return NULL;
}

static void serves_threads(void) {
    char *text = ptx_of(COUNTS);
    halfbyte_ptx *ptx = NULL;
    CHECK(halfbyte_ptx_load(NULL, text, HALFBYTE_TO_NUL, NULL, &ptx, NULL) == HALFBYTE_STATUS_OK);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, launch_often, ptx) == 0);
    for (int i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    halfbyte_ptx_free(ptx);
    halfbyte_ptx_reset();
    free(text);
}

int main(void) {
    CHECK(halfbyte_abi_version() == HALFBYTE_ABI_VERSION && strchr(halfbyte_version(), '.') != NULL);
    compiles_and_launches();
    says_what_is_wrong();
    runs_ptx();
    warns_of_same_values();
    runs_on_pointers();
    finds_races_on_pointers();
    launches_cooperatively();
    serves_threads();
    if (failures == 0) puts("ok");
    return failures != 0;
}
