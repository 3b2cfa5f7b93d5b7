// Generic selection, compound literals, designated initializers, statement expressions, nested arrays.
#include <stdio.h>
#define NAME(x) _Generic((x), int: "int", double: "double", char *: "text", default: "other")
#define MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
struct point { int x, y; struct { char tag; float w[2]; } in; }; static int area(const struct point *p) { return p->x * p->y + (int)p->in.w[1]; }
static int sum3(int (*c)[2][3]) { int s = 0; for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) s += (*c)[i][j] * (i + 1); return s; }
int main(void) { printf("%s %s %s %s\n", NAME(1), NAME(1.0), NAME((char *)0), NAME(1.0f)); printf("%d %g\n", MAX(3, 4), MAX(2.5, 1)); printf("%d\n", area(&(struct point){.y = 4, .x = 3, .in.w = {[1] = 5.5f}})); int cube[4][2][3] = {[2] = {{1, 2, 3}, {4, 5, 6}}}; printf("%d %d\n", sum3(&cube[2]), sum3(&cube[1])); const int *row = (const int[]){9, 8, 7}; struct point ps[] = {[1] = {1, 2, {'t', {3}}}, [3].x = 4}; printf("%d %zu %c %d\n", row[1], sizeof ps / sizeof *ps, ps[1].in.tag, ps[3].x + ps[2].y); }
