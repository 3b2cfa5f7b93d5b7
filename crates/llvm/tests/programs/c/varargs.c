// Functions with any number of arguments, defined and called.
#include <stdarg.h>
#include <stdio.h>
static double sum(int n, ...) { va_list ap; va_start(ap, n); double s = 0; for (int i = 0; i < n; i++) s += va_arg(ap, double); va_end(ap); return s; }
static long mixed(const char *kinds, ...) {
  va_list ap, again; va_start(ap, kinds); va_copy(again, ap); long s = 0;
  for (const char *k = kinds; *k; k++) switch (*k) { case 'i': s += va_arg(ap, int); break; case 'l': s += va_arg(ap, long); break; case 'd': s += (long)va_arg(ap, double); break; case 's': s += *va_arg(ap, char *); break; }
  if (*kinds == 'i') s += 1000 * va_arg(again, int);
  va_end(ap); va_end(again); return s;
}
static int print(const char *format, ...) { va_list ap; va_start(ap, format); int n = vprintf(format, ap); va_end(ap); return n; }
int main(void) {
  printf("%g\n", sum(9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.5));
  printf("%ld\n", mixed("ilds", 3, 40L, 500.9, "A"));
  printf("%d\n", print("%d %s %c %.2f\n", 1, "two", '3', 4.0));
}
