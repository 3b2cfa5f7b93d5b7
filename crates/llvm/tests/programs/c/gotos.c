// Loops made of goto, one with two entries, and computed goto.
#include <stdio.h>
static int irreducible(int x) { int n = 0; if (x & 1) goto middle; top: n += 2; if (n > 100) return n; middle: n += x; x = x / 2 + 1; if (n < 80) goto top; return n * 3; }
static int collatz(long n) { int steps = 0; again: if (n == 1) goto done; steps++; if (n % 2) { n = 3 * n + 1; goto again; } n /= 2; goto again; done: return steps; }
static int interpret(const char *code) { static const void *const labels[] = {&&inc, &&dec, &&dbl, &&end}; int x = 1; const char *p = code;
#define NEXT goto *labels[*p++ - '0']
  NEXT; inc: x++; NEXT; dec: x--; NEXT; dbl: x *= 2; NEXT; end: return x; }
static int search(int m[4][4], int want) { int i, j; for (i = 0; i < 4; i++) for (j = 0; j < 4; j++) if (m[i][j] == want) goto found; return -1; found: return i * 10 + j; }
int main(void) { int m[4][4]; for (int i = 0; i < 16; i++) m[i / 4][i % 4] = i * i; for (int i = 0; i < 12; i++) printf("%d ", irreducible(i * 5)); printf("\n%d %d %d %d\n", collatz(27), interpret("0021023"), search(m, 81), search(m, 82)); }
