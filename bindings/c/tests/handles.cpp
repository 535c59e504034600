// Use of the header in C++, with handles that free themselves. Prints "ok" if everything holds.
#include "halfbyte.h"

#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

template <auto free_of>
struct Free {
    template <typename T>
    void operator()(T *handle) const {
        free_of(handle);
    }
};

using Module = std::unique_ptr<halfbyte_module, Free<halfbyte_module_free>>;
using Program = std::unique_ptr<halfbyte_program, Free<halfbyte_program_free>>;
using Error = std::unique_ptr<halfbyte_error, Free<halfbyte_error_free>>;

// Throws the report of a failed call. The error is a reference, because it is read after the status
// was evaluated.
void check(halfbyte_status status, halfbyte_error *const &error) {
    const Error owned(error);
    if (status != HALFBYTE_STATUS_OK) throw std::runtime_error(halfbyte_error_display(error));
}

Program build(const std::string &text, const char *target) {
    halfbyte_error *error = nullptr;
    halfbyte_module *module = nullptr;
    check(halfbyte_module_parse("k.hb", text.data(), text.size(), nullptr, &module, &error), error);
    const Module owned(module);
    halfbyte_program *program = nullptr;
    check(halfbyte_program_build(module, target, 0, nullptr, &program, &error), error);
    return Program(program);
}

}  // namespace

int main() {
    const std::string text =
        "kernel @brighten(%by: i8x4, %x: in i8x4, %y: out i8x4) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n"
        "  %w = add_sat_u.i8x4 %v, %by\n  store %w, %y[%i]\n  ret\n}\n";
    for (const char *target : {"halu", "vp1", "ptx"}) {
        const Program program = build(text, target);
        std::array<uint8_t, 4> by{40, 40, 40, 40}, x{0, 100, 215, 216}, y{};
        const halfbyte_arg args[] = {
            {HALFBYTE_ARG_VALUE, 0, by.data(), by.size(), 0},
            {HALFBYTE_ARG_IN, 0, x.data(), x.size(), 0},
            {HALFBYTE_ARG_BUFFER, 0, y.data(), y.size(), 0},
        };
        halfbyte_error *error = nullptr;
        check(halfbyte_program_launch(program.get(), "brighten", halfbyte_items(1), args, 3, nullptr, nullptr, &error), error);
        if (y != std::array<uint8_t, 4>{40, 140, 255, 255}) return 1;
    }
    try {
        build("kernel @k() {\n^entry:\n  fro\n}\n", "halu");
        return 1;
    } catch (const std::runtime_error &error) {
        if (std::string(error.what()).find("k.hb:3:3") == std::string::npos) return 1;
    }
    std::puts("ok");
}
