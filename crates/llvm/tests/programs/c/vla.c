// Arrays whose length is known at run time, in frames and as parameters.
#include <stdio.h>
static double trace(int n, double m[n][n]) { double s = 0; for (int i = 0; i < n; i++) s += m[i][i]; return s; }
static long pascal(int n) { long row[n + 1]; for (int i = 0; i <= n; i++) { row[i] = 1; for (int j = i - 1; j > 0; j--) row[j] += row[j - 1]; } long best = 0; for (int i = 0; i <= n; i++) if (row[i] > best) best = row[i]; return best; }
static int nested(int n) { int total = 0; for (int k = 1; k <= n; k++) { int a[k]; for (int i = 0; i < k; i++) a[i] = i * k; for (int i = 0; i < k; i++) total += a[k - 1 - i]; total += sizeof a; } return total; }
int main(int argc, char **argv) { (void)argv; int n = argc + 4; double m[n][n]; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) m[i][j] = i * n + j; char *p = __builtin_alloca(n * 3); for (int i = 0; i < n * 3; i++) p[i] = (char)('a' + i); printf("%g %ld %d %.5s\n", trace(n, m), pascal(20), nested(9), p + 4); }
