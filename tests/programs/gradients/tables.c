// Hash tables with chains, arrays that grow, copies, aligned memory: the heap as C programs use it.
#include "check.h"

#define NOINLINE __attribute__((noinline)) static

struct entry {
  unsigned key;
  double value;
  struct entry *next;
};

struct table {
  struct entry **heads;
  unsigned size;
  int count;
};

NOINLINE void table_start(struct table *table, unsigned size) {
  table->heads = calloc(size, sizeof *table->heads);
  table->size = size;
  table->count = 0;
}

NOINLINE double *at(struct table *table, unsigned key) {
  unsigned place = key * 2654435761u % table->size;
  for (struct entry *entry = table->heads[place]; entry; entry = entry->next)
    if (entry->key == key) return &entry->value;
  struct entry *entry = malloc(sizeof *entry);
  entry->key = key;
  entry->value = 0;
  entry->next = table->heads[place];
  table->heads[place] = entry;
  table->count++;
  return &entry->value;
}

NOINLINE void table_grow(struct table *table) {
  struct table larger;
  table_start(&larger, 2 * table->size);
  for (unsigned i = 0; i < table->size; i++)
    for (struct entry *entry = table->heads[i], *next; entry; entry = next) {
      next = entry->next;
      unsigned place = entry->key * 2654435761u % larger.size;
      entry->next = larger.heads[place];
      larger.heads[place] = entry;
      larger.count++;
    }
  free(table->heads);
  *table = larger;
}

NOINLINE void table_end(struct table *table) {
  for (unsigned i = 0; i < table->size; i++)
    for (struct entry *entry = table->heads[i], *next; entry; entry = next) {
      next = entry->next;
      free(entry);
    }
  free(table->heads);
}

static double hashed(double *x, int n) {
  struct table table;
  table_start(&table, 3);
  for (int i = 0; i < 2 * n; i++) {
    *at(&table, i * i % 7) += x[i % n] * x[(i + 1) % n];
    if (table.count > (int)table.size) table_grow(&table);
  }
  double product = 1;
  for (int key = 0; key < 7; key++) product *= 1 + *at(&table, key);
  table_end(&table);
  return product;
}

// Arrays that grow to twice their size, or by one.
struct array {
  double *data;
  int length, room;
};

NOINLINE void push(struct array *array, double x) {
  if (array->length == array->room) {
    array->room = array->room ? 2 * array->room : 1;
    array->data = realloc(array->data, array->room * sizeof(double));
  }
  array->data[array->length++] = x;
}

static double doubled(double *x, int n) {
  struct array array = {0};
  for (int i = 0; i < 3 * n; i++) push(&array, x[i % n] * x[2 * i % n]);
  double sum = 0;
  for (int i = 1; i < array.length; i++) sum += array.data[i] * array.data[i - 1];
  free(array.data);
  return sum;
}

static double by_one(double *x, int n) {
  double *data = NULL, sum = 0;
  for (int i = 0; i < n; i++) {
    data = realloc(data, (i + 1) * sizeof *data);
    data[i] = x[i] * x[0];
    sum += data[i / 2] * data[i];
  }
  free(data);
  return sum;
}

static double shrinking(double *x, int n) {
  double *data = malloc(4 * n * sizeof *data), sum = 0;
  for (int i = 0; i < 4 * n; i++) data[i] = x[i % n] * i;
  for (int m = 4 * n; m > 1; m /= 2) {
    for (int i = 0; i < m; i++) sum += data[i] * data[m - 1 - i];
    data = realloc(data, m / 2 * sizeof *data);
    for (int i = 0; i < m / 2; i++) data[i] *= x[0];
  }
  free(data);
  return sum * 1e-3;
}

// Rows that grow one by one, and an array of pointers that grows.
static double ragged(double *x, int n) {
  double **rows = calloc(n, sizeof *rows), sum = 0;
  int *lengths = calloc(n, sizeof *lengths);
  for (int i = 0; i < n * n; i++) {
    int row = i * i % n;
    rows[row] = realloc(rows[row], (lengths[row] + 1) * sizeof(double));
    rows[row][lengths[row]++] = x[i % n] * x[row];
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < lengths[i]; j++) sum += rows[i][j] * rows[i][0];
    free(rows[i]);
  }
  free(rows);
  free(lengths);
  return sum;
}

struct item {
  double value;
  char *name;
};

static double named(double *x, int n) {
  struct item **items = NULL;
  double sum = 0;
  for (int i = 0; i < n; i++) {
    items = realloc(items, (i + 1) * sizeof *items);
    items[i] = malloc(sizeof **items);
    items[i]->value = x[i] * x[i];
    items[i]->name = strdup(i % 2 ? "odd" : "even");
  }
  for (int i = 0; i < n; i++)
    if (items[i]->name[0] == 'e') sum += items[i]->value * items[n - 1 - i]->value;
  for (int i = 0; i < n; i++) {
    free(items[i]->name);
    free(items[i]);
  }
  free(items);
  return sum;
}

// Copies, and copies of copies.
NOINLINE double *copy(const double *x, int n) {
  double *made = malloc(n * sizeof *made);
  memcpy(made, x, n * sizeof *made);
  return made;
}

static double copied(double *x, int n) {
  double *a = copy(x, n), *b = copy(a, n), sum = 0;
  for (int i = 0; i < n; i++) b[i] *= a[n - 1 - i];
  double *c = copy(b, n);
  free(b);
  for (int i = 0; i < n; i++) sum += c[i] * a[i];
  free(a);
  free(c);
  return sum;
}

static double aligned(double *x, int n) {
  void *memory;
  double *a = aligned_alloc(64, 64 * ((n * sizeof(double) + 63) / 64)), sum = 0;
  if (posix_memalign(&memory, 32, n * sizeof(double))) return 0;
  double *b = memory;
  for (int i = 0; i < n; i++) {
    a[i] = x[i] * x[i];
    b[i] = a[i] * x[0];
  }
  for (int i = 0; i < n; i++) sum += a[i] * b[n - 1 - i];
  free(a);
  free(b);
  return sum;
}

int main(void) {
  double x[6];
  fill(x, 6, 0.5, 1.5);
  CHECK_GRADIENT(hashed, x, 6);
  CHECK_GRADIENT(doubled, x, 6);
  CHECK_GRADIENT(by_one, x, 6);
  CHECK_GRADIENT(shrinking, x, 6);
  CHECK_GRADIENT(ragged, x, 6);
  CHECK_GRADIENT(named, x, 6);
  CHECK_GRADIENT(copied, x, 6);
  CHECK_GRADIENT(aligned, x, 6);
  return finish("tables");
}
