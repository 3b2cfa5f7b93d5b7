// A hash table with chains that grows.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { char *key; int value; struct node *next; };
struct table { struct node **slots; size_t size, used; };
static unsigned hash(const char *s) { unsigned h = 2166136261u; while (*s) h = (h ^ (unsigned char)*s++) * 16777619u; return h; }
static void grow(struct table *t) {
  size_t size = t->size ? t->size * 2 : 4; struct node **slots = calloc(size, sizeof *slots);
  for (size_t i = 0; i < t->size; i++) for (struct node *n = t->slots[i], *next; n; n = next) { next = n->next; size_t k = hash(n->key) % size; n->next = slots[k]; slots[k] = n; }
  free(t->slots); t->slots = slots; t->size = size;
}
static int *find(struct table *t, const char *key) {
  if (t->used >= t->size) grow(t);
  struct node **p = &t->slots[hash(key) % t->size];
  for (; *p; p = &(*p)->next) if (!strcmp((*p)->key, key)) return &(*p)->value;
  *p = malloc(sizeof **p); **p = (struct node){strdup(key), 0, NULL}; t->used++;
  return &(*p)->value;
}
int main(void) {
  struct table t = {0}; char key[16];
  for (int i = 0; i < 500; i++) { sprintf(key, "k%d", i * i % 97); *find(&t, key) += i; }
  long sum = 0; size_t used = t.used;
  for (int i = 0; i < 97; i++) { sprintf(key, "k%d", i); sum += (long)*find(&t, key) * (i + 1); }
  printf("%zu %zu %ld\n", used, t.used, sum);
  for (size_t i = 0; i < t.size; i++) for (struct node *n = t.slots[i], *next; n; n = next) { next = n->next; free(n->key); free(n); }
  free(t.slots);
}
