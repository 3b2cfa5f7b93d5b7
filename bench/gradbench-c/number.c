// Both ways have a short cut: with the 64 digits (in base two) of a long double, a number times a
// power of ten that is exact is right up to one rounding. The library does the rest.
#include "number.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// 5^27 has 63 digits in base two, so these are exact.
static const long double TENS[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                   1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                   1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
enum { MOST_TENS = LDBL_MANT_DIG >= 64 ? 27 : -1 };

static long double scaled(long double number, long tens) {
  return tens < 0 ? number / TENS[-tens] : number * TENS[tens];
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits, as far as they go; `count` is how many there are from the first that is not zero.
static const char *digits_read(const char *at, uint64_t *digits, int *count) {
  for (; is_digit(*at); at++) {
    if (*count < 20) *count += *count > 0 || *at > '0';
    if (*count < 20) *digits = *digits * 10 + (*at - '0');
  }
  return at;
}

const char *number_read(const char *text, double *number) {
  const char *at = text + (*text == '-');
  uint64_t digits = 0;
  int count = 0;
  long tens = 0;
  if (!is_digit(*at)) return NULL;
  at = *at == '0' ? at + 1 : digits_read(at, &digits, &count);
  if (*at == '.') {
    const char *first = at + 1;
    at = digits_read(first, &digits, &count);
    if (at == first) return NULL;
    tens = first - at;
  }
  if (*at == 'e' || *at == 'E') {
    int down = *++at == '-';
    long power = 0;
    if (*at == '-' || *at == '+') at++;
    if (!is_digit(*at)) return NULL;
    for (; is_digit(*at); at++)
      if (power < LONG_MAX / 100) power = power * 10 + (*at - '0');
    tens += down ? -power : power;
  }
  if (count == 0) {
    *number = *text == '-' ? -0.0 : 0.0;
    return at;
  }
  if (count < 20 && tens >= -MOST_TENS && tens <= MOST_TENS) {
    // What is rounded twice is wrong only if the first rounding reaches the middle of two doubles.
    long double near = scaled(digits, tens), doubt = near * LDBL_EPSILON;
    if ((double)(near - doubt) == (double)(near + doubt)) {
      *number = *text == '-' ? -(double)near : (double)near;
      return at;
    }
  }
  *number = strtod(text, NULL);
  return isfinite(*number) ? at : NULL;
}

static char *digits_write(char *at, uint64_t number) {
  char digits[20];
  int count = 0;
  do digits[count++] = '0' + number % 10;
  while (number /= 10);
  while (count > 0) *at++ = digits[--count];
  return at;
}

// 17 digits, the first of which stands for so many tens. They are off by less than 0.51 of the last,
// and 0.55 is where reading them would give another double.
static char *decimal_write(char *at, uint64_t digits, int tens) {
  int before = tens >= 0 && tens < 17 ? tens + 1 : 1, small = tens < 0 && tens >= -5;
  char all[20];
  digits_write(all, digits);
  int count = 17;
  while (all[count - 1] == '0') count--;
  if (small) {
    *at++ = '0';
    *at++ = '.';
    for (int i = -1; i > tens; i--) *at++ = '0';
    for (int i = 0; i < count; i++) *at++ = all[i];
    return at;
  }
  for (int i = 0; i < before; i++) *at++ = all[i];
  if (count > before) *at++ = '.';
  for (int i = before; i < count; i++) *at++ = all[i];
  if (tens >= 0 && tens < 17) return at;
  *at++ = 'e';
  if (tens < 0) *at++ = '-';
  return digits_write(at, tens < 0 ? -tens : tens);
}

char *number_write(char *at, double number) {
  if (signbit(number)) *at++ = '-';
  number = fabs(number);
  if (number < 1e15 && number == (double)(uint64_t)number) return digits_write(at, (uint64_t)number);
  int twos;
  frexp(number, &twos);
  // Right, or one too small.
  int tens = (int)floor((twos - 1) * 0.30102999566398120);
  if (16 - tens <= MOST_TENS && tens - 16 < MOST_TENS) {
    if (scaled(number, 16 - tens) >= 1e17L) tens++;
    uint64_t digits = (uint64_t)(scaled(number, 16 - tens) + 0.5L);
    if (digits == 100000000000000000) digits /= 10, tens++;
    return decimal_write(at, digits, tens);
  }
  return at + snprintf(at, NUMBER_LENGTH - 1, "%.17g", number);
}
