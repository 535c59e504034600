// A naive interpreter of HALU code. The interpreter executes one item after the other, and decodes
// each instruction word again whenever it executes the word. It supports only the instructions of
// the axpy kernel, but all variants of HFMA2 with rounding to nearest.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned __int128 u128;
typedef __int128 i128;

static uint32_t field(u128 word, int low, int width) {
    return (uint32_t)(word >> low) & (uint32_t)((1ull << width) - 1);
}

enum { EXPONENTS = 31, NAN_BITS = 0x7fff, INFINITY_BITS = 0x7c00 };

typedef struct {
    bool negative;
    // The value is the significand * 2^(exponent - 25).
    int exponent;
    int significand;
    bool is_nan, is_infinite;
} Half;

static Half half_of(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    Half half = {bits >> 15, exponent, fraction, false, false};
    if (exponent == EXPONENTS) {
        half.is_nan = fraction != 0;
        half.is_infinite = fraction == 0;
    } else if (exponent == 0) {
        half.exponent = 1;
    } else {
        half.significand |= 1024;
    }
    return half;
}

// Returns a * b + c, rounded to nearest, ties to even.
static uint16_t fma_half(uint16_t a_bits, uint16_t b_bits, uint16_t c_bits) {
    Half a = half_of(a_bits), b = half_of(b_bits), c = half_of(c_bits);
    bool negative = a.negative != b.negative;
    if (a.is_nan || b.is_nan || c.is_nan)
        return NAN_BITS;
    if (a.is_infinite || b.is_infinite) {
        bool zero = (!a.is_infinite && a.significand == 0) || (!b.is_infinite && b.significand == 0);
        if (zero || (c.is_infinite && c.negative != negative))
            return NAN_BITS;
        return negative << 15 | INFINITY_BITS;
    }
    if (c.is_infinite)
        return c_bits;

    // The product is an integer in units of 2^-48, the smallest positive product of two halves.
    i128 product = (i128)(a.significand * b.significand) << (a.exponent + b.exponent - 2);
    i128 addend = (i128)c.significand << (c.exponent - 25 + 48);
    i128 sum = (negative ? -product : product) + (c.negative ? -addend : addend);
    if (sum == 0)
        return negative && c.negative ? 0x8000 : 0;
    bool below = sum < 0;
    u128 magnitude = (u128)(below ? -sum : sum);
    uint64_t upper = (uint64_t)(magnitude >> 64);
    int top = upper ? 127 - __builtin_clzll(upper) : 63 - __builtin_clzll((uint64_t)magnitude);
    // The position of the last bit of the result. The result has eleven significant bits, but no
    // bit below the smallest subnormal.
    int last = top - 10 > 24 ? top - 10 : 24;
    uint32_t kept = (uint32_t)(magnitude >> last);
    u128 rest = magnitude - ((u128)kept << last), tie = (u128)1 << (last - 1);
    kept += rest > tie || (rest == tie && (kept & 1));
    uint32_t bits = ((uint32_t)(last - 24) << 10) + kept;
    return (uint16_t)(below << 15 | (bits > INFINITY_BITS ? INFINITY_BITS : bits));
}

// Returns a packed source operand: the halves are selected, then made absolute, then negated.
static uint32_t source(uint32_t bits, uint32_t select, uint32_t negate, uint32_t absolute) {
    uint32_t low = select == 3 ? bits >> 16 : bits & 0xffff;
    uint32_t high = select == 2 ? bits & 0xffff : bits >> 16;
    uint32_t both = high << 16 | low;
    if (absolute)
        both &= 0x7fff7fffu;
    return negate ? both ^ 0x80008000u : both;
}

// Executes the instruction words for `items` items. `constants` is constant bank 0, whose buffer
// addresses are addresses in this process. Returns false if an instruction word is not supported.
bool naive_run(const u128 *words, size_t count, const uint8_t *constants, uint32_t items) {
    uint32_t r[256] = {0};
    uint64_t ur[64] = {0};
    for (uint32_t item = 0; item < items; item++) {
        bool done = false;
        for (size_t at = 0; at < count && !done; at++) {
            u128 word = words[at];
            uint32_t rd = field(word, 16, 8), ra = field(word, 24, 8), slot = field(word, 32, 8), r64 = field(word, 64, 8);
            uint32_t constant;
            memcpy(&constant, constants + field(word, 32, 16), sizeof constant);
            uint64_t address = ur[field(word, 32, 6)] + r[ra] + field(word, 40, 24);
            if (field(word, 12, 4) != 7)
                return false;
            switch (field(word, 0, 8)) {
            case 0xb9: // ULDC.64
                memcpy(&ur[field(word, 16, 6)], constants + field(word, 32, 16), sizeof *ur);
                break;
            case 0x1a: // S2R
                r[rd] = item;
                break;
            case 0x11: // LEA
                r[rd] = (r[ra] << field(word, 80, 5)) + r[slot];
                break;
            case 0x81: // LDG
                memcpy(&r[rd], (const void *)address, sizeof *r);
                break;
            case 0x86: // STG
                memcpy((void *)address, &r[r64], sizeof *r);
                break;
            case 0x31: { // HFMA2
                uint32_t bits[3] = {r[ra], 0, 0};
                switch (field(word, 8, 4)) {
                case 0x2:
                    bits[1] = r[slot], bits[2] = r[r64];
                    break;
                case 0xa:
                    bits[1] = constant, bits[2] = r[r64];
                    break;
                default:
                    return false;
                }
                uint32_t a = source(bits[0], field(word, 80, 2), field(word, 72, 1), field(word, 73, 1));
                uint32_t b = source(bits[1], field(word, 82, 2), field(word, 96, 1), field(word, 97, 1));
                uint32_t c = source(bits[2], field(word, 84, 2), field(word, 74, 1), field(word, 75, 1));
                uint32_t low = fma_half((uint16_t)a, (uint16_t)b, (uint16_t)c);
                uint32_t high = fma_half((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16));
                r[rd] = high << 16 | low;
                break;
            }
            case 0x4d: // EXIT
                done = true;
                break;
            default:
                return false;
            }
            r[255] = 0; // RZ
        }
    }
    return true;
}
