// Compares mathematical functions on vectors with those of the C library in more precision. Arguments:
// the step over all numbers of single precision, how many of double precision, a seed. Prints the
// largest error of each function in units in the last place, and fails beyond two.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void __enzyme_autodiff(void *, ...);
extern int enzyme_dup, enzyme_const;

enum { BLOCK = 4096 };
static int failed;
static uint64_t state;

static uint64_t next(void) { // splitmix64
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static float single(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static double number(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }

// How far a result is from what it should be, in units of the last place.
static double units(long double got, long double want, int digits, int least) {
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (got == want) return signbit(got) == signbit(want) ? 0 : INFINITY;
    if (got == 0 && signbit(got) != signbit(want)) return INFINITY;
    // Infinity stands for the first number that is too large.
    long double above = ldexpl(1, digits == 24 ? 128 : 1024);
    if (fabsl(want) > above) want = copysignl(above, want);
    if (isinf(got)) got = copysignl(above, got);
    int exponent = want == 0 ? least : ilogbl(want) - digits + 1;
    if (exponent < least) exponent = least;
    return (double)(fabsl(got - want) / ldexpl(1, exponent));
}

typedef struct { double worst; long double at, other; } seen;

static void tell(const char *name, seen s) {
    printf("%-8s %.3f\n", name, s.worst);
    if (!(s.worst < 2)) {
        printf("  at %.21Lg %La, %La\n", s.at, s.at, s.other);
        failed = 1;
    }
    fflush(stdout);
}

static const uint32_t edges[] = {0, 1, 2, 0x7fffff, 0x800000, 0x800001, 0x33800000, 0x3f7fffff,
    0x3f800000, 0x3f800001, 0x40000000, 0x40400000, 0x3f000000, 0x42b17217, 0x42b17218, 0x42b17219,
    0x42ce8ed0, 0x42cff1b5, 0x43000000, 0x49742400, 0x49742401, 0x4b800000, 0x7f7fffff, 0x7f800000,
    0x7fc00000, 0x7f800001, 0x3fc90fdb, 0x40490fdb, 0x3f200000, 0x3f666666, 0x3ed413cd, 0x40800000};
enum { EDGES = sizeof edges / sizeof *edges };

#define SINGLE(name, wide)                                                                          \
    static void run_##name(const float *restrict x, float *restrict y, int n) {                     \
        for (int i = 0; i < n; i++) y[i] = name(x[i]);                                              \
    }                                                                                               \
    static void test_##name(uint64_t step) {                                                        \
        static float x[BLOCK], dx[BLOCK], y[BLOCK], dy[BLOCK];                                      \
        seen s = {0};                                                                               \
        for (uint64_t at = 0, first = 1; at < 1ull << 32; first = 0) {                              \
            for (int i = 0; i < BLOCK; i++, at += step) x[i] = single((uint32_t)at);                \
            if (first)                                                                              \
                for (int i = 0; i < 2 * EDGES; i++) x[i] = single(edges[i / 2] ^ (uint32_t)i << 31); \
            __enzyme_autodiff((void *)run_##name, enzyme_dup, x, dx, enzyme_dup, y, dy,             \
                              enzyme_const, BLOCK);                                                 \
            for (int i = 0; i < BLOCK; i++) {                                                       \
                double e = units(y[i], wide((double)x[i]), 24, -149);                               \
                if (e > s.worst) s.worst = e, s.at = x[i];                                          \
            }                                                                                       \
        }                                                                                           \
        tell(#name, s);                                                                             \
    }

SINGLE(expf, exp)
SINGLE(exp2f, exp2)
SINGLE(expm1f, expm1)
SINGLE(logf, log)
SINGLE(log2f, log2)
SINGLE(log10f, log10)
SINGLE(log1pf, log1p)
SINGLE(tanhf, tanh)
SINGLE(sinhf, sinh)
SINGLE(coshf, cosh)
SINGLE(erff, erf)
SINGLE(atanf, atan)
SINGLE(sinf, sin)
SINGLE(cosf, cos)

static void run_powf(const float *restrict x, const float *restrict p, float *restrict y, int n) {
    for (int i = 0; i < n; i++) y[i] = powf(x[i], p[i]);
}

static void test_powf(uint64_t count) {
    static float x[BLOCK], dx[BLOCK], p[BLOCK], dp[BLOCK], y[BLOCK], dy[BLOCK];
    seen s = {0};
    uint64_t pair = 0;
    for (uint64_t done = 0; done < count; done += BLOCK) {
        for (int i = 0; i < BLOCK; i++, pair++) {
            uint64_t random = next();
            x[i] = single((uint32_t)random);
            p[i] = single((uint32_t)(random >> 32));
            if (pair < 4 * EDGES * EDGES) {
                x[i] = single(edges[pair / 4 % EDGES] ^ (uint32_t)(pair & 1) << 31);
                p[i] = single(edges[pair / 4 / EDGES] ^ (uint32_t)(pair & 2) << 30);
            } else if (i % 2) { // results that are numbers
                p[i] = (float)((random >> 40) % 400) / 4 - 50;
                x[i] = (float)exp((double)(random % 4000) / 1000 - 2) * (i % 4 == 1 ? -1 : 1);
            }
        }
        __enzyme_autodiff((void *)run_powf, enzyme_dup, x, dx, enzyme_dup, p, dp, enzyme_dup, y, dy,
                          enzyme_const, BLOCK);
        for (int i = 0; i < BLOCK; i++) {
            double want = pow((double)x[i], (double)p[i]);
            double e = units(y[i], want, 24, -149);
            if (e > s.worst) s.worst = e, s.at = x[i], s.other = p[i];
        }
    }
    tell("powf", s);
}

#define DOUBLE(name)                                                                                \
    static void run_##name(const double *restrict x, double *restrict y, int n) {                   \
        for (int i = 0; i < n; i++) y[i] = name(x[i]);                                              \
    }                                                                                               \
    static void test_##name(uint64_t count) {                                                       \
        static double x[BLOCK], dx[BLOCK], y[BLOCK], dy[BLOCK];                                     \
        seen s = {0};                                                                               \
        for (uint64_t done = 0; done < count; done += BLOCK) {                                      \
            for (int i = 0; i < BLOCK; i++) {                                                       \
                uint64_t random = next();                                                           \
                double part = (double)(random >> 11) / (1ull << 53) * 2 - 1;                        \
                double all[] = {number(random), part, 40 * part, 800 * part, 1e6 * part,            \
                                (double)(random % 400000) * 1.5707963267948966, 1 + part / 64,      \
                                2 * part};                                                          \
                x[i] = all[done / BLOCK % 8];                                                       \
            }                                                                                       \
            if (!done)                                                                              \
                for (int i = 0; i < 2 * EDGES; i++) {                                               \
                    float edge = single(edges[i / 2] ^ (uint32_t)i << 31);                          \
                    x[i] = edge;                                                                    \
                    x[2 * EDGES + i] = number((uint64_t)edges[i / 2] << 32 | (uint64_t)i << 63);    \
                    x[4 * EDGES + i] = number((uint64_t)edges[i / 2] | (uint64_t)i << 63);          \
                }                                                                                   \
            __enzyme_autodiff((void *)run_##name, enzyme_dup, x, dx, enzyme_dup, y, dy,             \
                              enzyme_const, BLOCK);                                                 \
            for (int i = 0; i < BLOCK; i++) {                                                       \
                long double want = name##l((long double)x[i]);                                      \
                double e = units(y[i], want, 53, -1074);                                            \
                if (e > s.worst) s.worst = e, s.at = x[i];                                          \
            }                                                                                       \
        }                                                                                           \
        tell(#name, s);                                                                             \
    }

DOUBLE(exp)
DOUBLE(exp2)
DOUBLE(log)
DOUBLE(tanh)
DOUBLE(sin)
DOUBLE(cos)

int main(int words, char **word) {
    uint64_t step = strtoull(word[1], 0, 10), count = strtoull(word[2], 0, 10);
    state = strtoull(word[3], 0, 10);
    printf("step %s, %s numbers, seed %s\n", word[1], word[2], word[3]);
    test_expf(step), test_exp2f(step), test_expm1f(step), test_logf(step), test_log2f(step);
    test_log10f(step), test_log1pf(step), test_tanhf(step), test_sinhf(step), test_coshf(step);
    test_erff(step), test_atanf(step), test_sinf(step), test_cosf(step), test_powf(count);
    test_exp(count), test_exp2(count), test_log(count), test_tanh(count), test_sin(count);
    test_cos(count);
    return failed;
}
