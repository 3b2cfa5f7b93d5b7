// Linked lists and trees in the heap.
#include <stdio.h>
#include <stdlib.h>
struct list { int v; struct list *next; }; struct tree { int key, height; struct tree *l, *r; };
static struct list *push(struct list *l, int v) { struct list *n = malloc(sizeof *n); n->v = v; n->next = l; return n; }
static struct list *reverse(struct list *l) { struct list *r = NULL; while (l) { struct list *n = l->next; l->next = r; r = l; l = n; } return r; }
static struct list *filter(struct list *l, int (*keep)(int)) { struct list **p = &l; while (*p) if (keep((*p)->v)) p = &(*p)->next; else { struct list *dead = *p; *p = dead->next; free(dead); } return l; }
static int even(int x) { return x % 2 == 0; }
static int height(struct tree *t) { return t ? t->height : 0; } static void fix(struct tree *t) { int a = height(t->l), b = height(t->r); t->height = (a > b ? a : b) + 1; }
static struct tree *right(struct tree *t) { struct tree *l = t->l; t->l = l->r; l->r = t; fix(t); fix(l); return l; } static struct tree *left(struct tree *t) { struct tree *r = t->r; t->r = r->l; r->l = t; fix(t); fix(r); return r; }
static struct tree *insert(struct tree *t, int k) { if (!t) { t = malloc(sizeof *t); *t = (struct tree){k, 1, NULL, NULL}; return t; } if (k < t->key) t->l = insert(t->l, k); else if (k > t->key) t->r = insert(t->r, k); fix(t); int d = height(t->l) - height(t->r); if (d > 1) { if (k > t->l->key) t->l = left(t->l); return right(t); } if (d < -1) { if (k < t->r->key) t->r = right(t->r); return left(t); } return t; }
static long walk(struct tree *t, int depth) { return t ? walk(t->l, depth + 1) + (long)t->key * depth + walk(t->r, depth + 1) : 0; } static void release(struct tree *t) { if (t) { release(t->l); release(t->r); free(t); } }
int main(void) { struct list *l = NULL; for (int i = 0; i < 20; i++) l = push(l, i * 3); l = filter(reverse(l), even); for (struct list *p = l; p; p = p->next) printf("%d ", p->v); puts(""); while (l) { struct list *n = l->next; free(l); l = n; } struct tree *t = NULL; for (int i = 0; i < 300; i++) t = insert(t, i * 37 % 211); printf("%d %ld\n", height(t), walk(t, 1)); release(t); }
