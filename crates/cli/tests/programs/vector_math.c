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

// Some functions have no vectors of 16 bytes, and some machines have no longer ones.
#define LONG_VECTORS _Pragma("clang loop vectorize_width(8)")

static int failed;
static uint64_t state;

static uint64_t next(void) { // splitmix64
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// From zero to one.
static double chance(void) { return (double)(next() >> 11) / (1ull << 53); }

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
                double want = wide((double)x[i]);                                                   \
                /* Most are rounded from what they should be: that is half a unit at most. */       \
                int is_best = y[i] != 0 && y[i] == (float)want;                                     \
                double e = is_best ? 0.5 : units(y[i], want, 24, -149);                             \
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
SINGLE(erfcf, erfc)
SINGLE(atanf, atan)
SINGLE(asinf, asin)
SINGLE(acosf, acos)
SINGLE(sinf, sin)
SINGLE(cosf, cos)
SINGLE(tanf, tan)

static void run_powf(const float *restrict x, const float *restrict p, float *restrict y, int n) {
    LONG_VECTORS for (int i = 0; i < n; i++) y[i] = powf(x[i], p[i]);
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

#define DOUBLE(name, vectors)                                                                       \
    static void run_##name(const double *restrict x, double *restrict y, int n) {                   \
        vectors for (int i = 0; i < n; i++) y[i] = name(x[i]);                                      \
    }                                                                                               \
    static void test_##name(uint64_t count) {                                                       \
        static double x[BLOCK], dx[BLOCK], y[BLOCK], dy[BLOCK];                                     \
        seen s = {0};                                                                               \
        for (uint64_t done = 0; done < count; done += BLOCK) {                                      \
            for (int i = 0; i < BLOCK; i++) {                                                       \
                uint64_t random = next();                                                           \
                double part = chance() * 2 - 1;                                                     \
                double all[] = {number(random), part, 40 * part, 800 * part, 1e6 * part,            \
                                (double)(random % 400000) * 1.5707963267948966, 1 + part / 64,      \
                                2 * part, 6 * part, ldexp(part, -(int)(random % 64)),               \
                                part < 0 ? part - 708 + 37 * part : 709 + 2 * part};                \
                x[i] = all[done / BLOCK % (sizeof all / sizeof *all)];                              \
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

DOUBLE(exp, )
DOUBLE(exp2, LONG_VECTORS)
DOUBLE(expm1, )
DOUBLE(log, LONG_VECTORS)
DOUBLE(log2, LONG_VECTORS)
DOUBLE(log10, )
DOUBLE(log1p, )
DOUBLE(tanh, )
DOUBLE(sinh, )
DOUBLE(cosh, )
DOUBLE(erf, )
DOUBLE(atan, )
DOUBLE(sin, )
DOUBLE(cos, )

// Bases and exponents that are special: zero, infinity, NaN, the smallest and largest numbers, one and
// its neighbours, and integers near the end of those that are odd, with halves between the last.
static const double corners[] = {0, 0x1p-1074, 0x1.8p-1050, 0x1p-1022, 0x1.fffffffffffffp-1023, 1e-300,
    0x1p-60, 0.1, 1.0 / 3, 0.5, 0x1.fffffffffffffp-1, 1, 0x1.0000000000001p0, 1.5, 2, 2.5, 3, 4, 5, 1023,
    1024, 1074, 1075, 0x1p31, 0x1.00000002p31, 0x1p51, 0x1.0000000000002p51, 0x1.0000000000003p51,
    0x1.0000000000001p52, 0x1.fffffffffffffp52, 0x1p53, 0x1.0000000000001p53, 1e19, 1e300,
    0x1.fffffffffffffp1023, INFINITY, NAN};
enum { CORNERS = sizeof corners / sizeof *corners };

static void run_pow(const double *restrict x, const double *restrict p, double *restrict y, int n) {
    LONG_VECTORS for (int i = 0; i < n; i++) y[i] = pow(x[i], p[i]);
}

static void test_pow(uint64_t count) {
    static double x[BLOCK], dx[BLOCK], p[BLOCK], dp[BLOCK], y[BLOCK], dy[BLOCK];
    seen s = {0};
    uint64_t pair = 0;
    for (uint64_t done = 0; done < count; done += BLOCK) {
        for (int i = 0; i < BLOCK; i++, pair++) {
            double part = chance() * 2 - 1;
            uint64_t random = next();
            x[i] = number(next());
            p[i] = number(random);
            if (pair < 4 * CORNERS * CORNERS) {
                x[i] = copysign(corners[pair / 4 % CORNERS], pair & 1 ? -1 : 1);
                p[i] = copysign(corners[pair / 4 / CORNERS], pair & 2 ? -1 : 1);
            } else if (i % 8 == 1) { // bases close to one with any result
                x[i] = 1 + ldexp(part, -(int)(random % 50));
                p[i] = 746 / log(x[i]) * (chance() * 2 - 1);
            } else if (i % 8 == 2) { // integers
                x[i] = ldexp(1 + chance(), (int)(random % 32) - 16) * (random & 32 ? -1 : 1);
                p[i] = (double)(random / 64 % 200) - 100;
            } else if (i % 8 == 3) { // subnormal and almost infinite results
                x[i] = fabs(number(random));
                double logarithm = log(x[i]);
                if (isfinite(logarithm)) p[i] = (part < 0 ? part - 708 + 37 * part : 709 + part) / logarithm;
            } else if (i % 2) { // any result of any base
                x[i] = fabs(number(random));
                double logarithm = log(x[i]);
                if (isfinite(logarithm)) p[i] = 746 * part / logarithm;
            }
        }
        __enzyme_autodiff((void *)run_pow, enzyme_dup, x, dx, enzyme_dup, p, dp, enzyme_dup, y, dy,
                          enzyme_const, BLOCK);
        for (int i = 0; i < BLOCK; i++) {
            double e = units(y[i], powl(x[i], p[i]), 53, -1074);
            if (e > s.worst) s.worst = e, s.at = x[i], s.other = p[i];
        }
    }
    tell("pow", s);
}

int main(int words, char **word) {
    uint64_t step = strtoull(word[1], 0, 10), count = strtoull(word[2], 0, 10);
    state = strtoull(word[3], 0, 10);
    printf("step %s, %s numbers, seed %s\n", word[1], word[2], word[3]);
    test_expf(step), test_exp2f(step), test_expm1f(step), test_logf(step), test_log2f(step);
    test_log10f(step), test_log1pf(step), test_tanhf(step), test_sinhf(step), test_coshf(step);
    test_erff(step), test_erfcf(step), test_atanf(step), test_asinf(step), test_acosf(step);
    test_sinf(step), test_cosf(step), test_tanf(step), test_powf(count);
    test_exp(count), test_exp2(count), test_expm1(count), test_log(count), test_log2(count);
    test_log10(count), test_log1p(count), test_tanh(count), test_sinh(count), test_cosh(count);
    test_erf(count), test_atan(count), test_sin(count), test_cos(count), test_pow(count);
    return failed;
}
