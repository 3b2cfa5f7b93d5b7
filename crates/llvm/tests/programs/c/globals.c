// Global variables with addresses in them: of others, of themselves, of parts, of functions.
#include <stdio.h>
struct link { const char *name; struct link *next; int *slot; };
static int cells[8] = {1, 2, 3, 4, 5, 6, 7, 8}; extern struct link third; static struct link first, second = {"second", &third, cells + 3}; static struct link first = {"first", &second, &cells[1]}; struct link third = {"third", &first, (int *)((char *)cells + 24)};
static int add(int a, int b) { return a + b; } static int sub(int a, int b) { return a - b; } static struct { const char *name; int (*f)(int, int); double weight; } const operations[] = {{"add", add, 0.5}, {"sub", sub, -1}};
static const char *const words[] = {"zero", "one", "two", [5] = "five"}; static const double table[3][2] = {{1, 2}, {3.5, 4}, {5, 6}}; static long address = (long)&cells[2]; static char text[16] = "abc"; int common_one; static float many[1000] = {[999] = 1.5f}; _Thread_local int mine = 4; static _Bool truth[] = {1, 0, 1}; static __int128 wide = (__int128)1 << 100;
int main(void) {
  struct link *l = &first; for (int i = 0; i < 5; i++, l = l->next) printf("%s %d, ", l->name, *l->slot); puts("");
  for (int i = 0; i < 2; i++) printf("%s %d %g\n", operations[i].name, operations[i].f(9, 4), operations[i].weight);
  for (int i = 0; i < 6; i++) printf("%s ", words[i] ? words[i] : "-"); printf("%g %d %s %d %g %d %d %d\n", table[1][0] + table[2][1], *(int *)address, text + 1, common_one, many[999], ++mine, truth[0] + truth[1] + truth[2], (int)(wide >> 98));
}
