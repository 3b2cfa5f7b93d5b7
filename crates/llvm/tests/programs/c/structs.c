// Structures of every shape by value: in registers, in memory, returned, nested.
#include <stdio.h>
struct two { int a, b; };
struct mixed { double x; float y; };
struct floats { float a, b, c; };
struct large { long v[6]; double d; };
struct nested { struct two t; struct mixed m; char c; };
struct tiny { char c[3]; };
static __attribute__((noinline)) struct two swap(struct two t) { return (struct two){t.b, t.a}; }
static __attribute__((noinline)) struct mixed scale(struct mixed m, double k) { return (struct mixed){m.x * k, (float)(m.y * k)}; }
__attribute__((noinline)) struct floats rotate(struct floats f) { return (struct floats){f.b, f.c, f.a}; }
__attribute__((noinline)) struct large fill(long base, struct two t) { struct large l; for (int i = 0; i < 6; i++) l.v[i] = base + i * t.a; l.d = t.b / 4.0; return l; }
__attribute__((noinline)) long total(struct large l, struct nested n) { long s = 0; for (int i = 0; i < 6; i++) s += l.v[i]; return s + n.t.a * 10 + n.c + (long)(n.m.x * 2 + l.d); }
__attribute__((noinline)) struct tiny shift(struct tiny t) { return (struct tiny){{t.c[2], t.c[0], t.c[1]}}; }
int main(void) {
  struct two t = swap((struct two){1, 2}); struct mixed m = scale((struct mixed){1.5, 2.5f}, 3);
  struct floats f = rotate((struct floats){1, 2, 3}); struct large l = fill(100, t);
  struct nested n = {t, m, 'x'}; struct tiny y = shift((struct tiny){"ab"});
  printf("%d %d %g %g %g %g %g\n", t.a, t.b, m.x, m.y, f.a, f.b, f.c);
  printf("%ld %g %ld %d %c %c\n", l.v[5], l.d, total(l, n), y.c[0], y.c[1], y.c[2]);
}
