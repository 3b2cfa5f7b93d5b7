// Copies and fills, overlapping or not, of fixed and of variable size.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct block { char name[40]; int data[20]; };
static unsigned check(const void *p, size_t n) { const unsigned char *b = p; unsigned h = 1; for (size_t i = 0; i < n; i++) h = h * 31 + b[i]; return h; }
int main(void) {
  char a[64]; for (int i = 0; i < 64; i++) a[i] = (char)i;
  memmove(a + 5, a, 40); printf("%u\n", check(a, 64)); memmove(a, a + 3, 50); printf("%u\n", check(a, 64));
  for (size_t n = 0; n < 20; n += 7) { memcpy(a + 30, a, n); memset(a + n, (int)n, n); printf("%u\n", check(a, 64)); }
  struct block b; memset(&b, 0, sizeof b); strcpy(b.name, "block"); for (int i = 0; i < 20; i++) b.data[i] = i * i; struct block c = b; c.name[0] = 'c'; c.data[3] = -1; b = c;
  printf("%s %d %u\n", b.name, b.data[3], check(&b, sizeof b));
  int *p = malloc(4 * sizeof *p); for (int i = 0; i < 4; i++) p[i] = i; p = realloc(p, 4096); p[1000] = 9; printf("%d %d\n", p[3], p[1000]); free(p);
  volatile char v[8]; for (int i = 0; i < 8; i++) v[i] = (char)(i * 3); int s = 0; for (int i = 0; i < 8; i++) s += v[i]; printf("%d %d\n", s, memcmp("abc", "abd", 3) < 0);
}
