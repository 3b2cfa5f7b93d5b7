// Number theory in 64 and 128 bits.
#include <stdint.h>
#include <stdio.h>
typedef unsigned __int128 u128;
static uint64_t power(uint64_t b, uint64_t e, uint64_t m) { uint64_t r = 1; for (b %= m; e; e >>= 1) { if (e & 1) r = (uint64_t)((u128)r * b % m); b = (uint64_t)((u128)b * b % m); } return r; }
static int prime(uint64_t n) { if (n < 2 || n % 2 == 0) return n == 2; uint64_t d = n - 1; int s = 0; while (d % 2 == 0) d /= 2, s++; static const int bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}; for (int i = 0; i < 12; i++) { if (bases[i] % n == 0) continue; uint64_t x = power(bases[i], d, n); if (x == 1 || x == n - 1) continue; int k = 1; for (; k < s; k++) { x = (uint64_t)((u128)x * x % n); if (x == n - 1) break; } if (k == s) return 0; } return 1; }
static uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }
static void print(u128 x) { char s[40]; int i = 40; s[--i] = 0; do s[--i] = '0' + (int)(x % 10); while (x /= 10); puts(s + i); }
int main(void) { static char sieve[10000]; int count = 0; for (int i = 2; i < 10000; i++) if (!sieve[i]) { count++; for (int j = 2 * i; j < 10000; j += i) sieve[j] = 1; } printf("%d %d %d %llu\n", count, prime(18446744073709551557ull), prime(18446744073709551559ull), (unsigned long long)gcd(1071ull << 20, 462ull << 18)); u128 f = 1; for (int i = 2; i <= 33; i++) f *= i; print(f); __int128 s = -(__int128)f / 7; print(-s); printf("%d\n", s < 0 && s % 2 == 0); }
