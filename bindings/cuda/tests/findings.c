// Tests the functions by which the Python package reads the errors of kernels. The caller sets HALFBYTE_KEEP_GOING=1.
#include "checks.h"

size_t halfbyte_take_findings(char *buffer, size_t bytes);
size_t halfbyte_report(char *buffer, size_t bytes);

static const char *KERNELS =
    HEAD
    ".file 1 \"k.cu\"\n"
    ".visible .entry store(.param .u64 x)\n{\n.reg .b64 %d;\n.loc 1 12 5\nld.param.u64 %d, [x];\nst.global.u32 [%d], 1;\nret;\n}\n"
    ".visible .entry approximate()\n{\n.reg .f32 %f;\n.loc 1 56 5\nex2.approx.f32 %f, 0f3F800000;\nret;\n}\n"
    ".visible .entry trapping(.param .u64 x)\n{\n.loc 1 34 5\ntrap;\n}\n";

static char text[1 << 16];

static int has(const char *part) { return strstr(text, part) != NULL; }

// Takes the errors, and returns the number of bytes of their JSON text.
static size_t take(void) {
    memset(text, 0, sizeof text);
    return halfbyte_take_findings(text, sizeof text - 1);
}

static void launch_on(CUmodule module, const char *kernel, CUdeviceptr x) {
    void *params[] = {&x};
    OK(launch(function(module, kernel), 1, 1, 0, params));
    OK(cuCtxSynchronize());
}

int main(void) {
    CHECK(take() == 2 && strcmp(text, "[]") == 0);
    const CUcontext context = start();
    const CUmodule module = load(KERNELS);
    const CUdeviceptr x = allocate(4);
    launch_on(module, "store", x);
    CHECK(take() == 2);
    launch_on(module, "store", 0);
    launch_on(module, "store", 0);
    launch_on(module, "trapping", x);
    // Without a buffer that is large enough, the errors stay.
    const size_t bytes = halfbyte_take_findings(NULL, sizeof text);
    CHECK(bytes > 2 && halfbyte_take_findings(text, bytes - 1) == bytes);
    CHECK(take() == bytes && strlen(text) == bytes);
    CHECK(has("\"kernel\":\"store\"") && has("\"file\":\"k.cu\",\"line\":12,\"count\":2"));
    CHECK(has("\"kernel\":\"trapping\"") && has("\"line\":34,\"count\":1") && has("\"kind\":\"trap\""));
    CHECK(take() == 2);
    launch_on(module, "trapping", x);
    CHECK(take() > 2 && has("trapping") && !has("store") && has("\"count\":1"));
    // The report has all errors.
    memset(text, 0, sizeof text);
    const size_t all = halfbyte_report(NULL, 0);
    CHECK(all == halfbyte_report(text, sizeof text - 1) && all == strlen(text));
    CHECK(has("\"approximations\":[]"));
    launch_on(module, "approximate", x);
    memset(text, 0, sizeof text);
    halfbyte_report(text, sizeof text - 1);
    CHECK(has("\"kind\":\"approximation\",\"kernel\":\"approximate\"") && has("ex2.approx.f32") && has("\"line\":56,\"count\":1"));
    CHECK(has("\"launches\":6") && has("\"kernels\":[\"store\",\"trapping\",\"approximate\"]") && has("\"line\":34,\"count\":2"));
    OK(cuCtxDestroy_v2(context));
    return finish();
}
