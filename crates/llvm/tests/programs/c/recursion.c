// Recursion: Ackermann, queens, permutations, mutual recursion.
#include <stdio.h>
static int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
static int queens(int n, unsigned cols, unsigned left, unsigned right) { unsigned full = (1u << n) - 1; if (cols == full) return 1; int count = 0; for (unsigned free = full & ~(cols | left | right); free; free &= free - 1) { unsigned bit = free & -free; count += queens(n, cols | bit, (left | bit) << 1, (right | bit) >> 1); } return count; }
static int found; static long check;
static void permute(int *a, int k, int n) { if (k == n) { found++; for (int i = 0; i < n; i++) check = (check * 7 + a[i]) % 1000003; return; } for (int i = k; i < n; i++) { int t = a[k]; a[k] = a[i]; a[i] = t; permute(a, k + 1, n); t = a[k]; a[k] = a[i]; a[i] = t; } }
static int odd(unsigned n); static int even(unsigned n) { return n == 0 || odd(n - 1); } static int odd(unsigned n) { return n != 0 && even(n - 1); }
static void hanoi(int n, int a, int b, int c, int *moves) { if (!n) return; hanoi(n - 1, a, c, b, moves); ++*moves; hanoi(n - 1, c, b, a, moves); }
int main(void) { int a[] = {1, 2, 3, 4, 5, 6}, moves = 0; permute(a, 0, 6); hanoi(10, 0, 1, 2, &moves); printf("%d %d %d %ld %d %d %d\n", ackermann(2, 5), queens(8, 0, 0, 0), found, check, even(101), odd(101), moves); }
