#include "evaluation.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "number.h"

int asks_for(const struct request *r, const char *function) { return json_is(r->function, function); }

void no_function(struct request *r) {
  fail(r, "no function %.*s", (int)r->function->length, r->function->text);
}

static int failed(const struct request *r) { return r->error.length > 0; }

void fail(struct request *r, const char *format, ...) {
  if (failed(r)) return;
  char words[200];
  va_list values;
  va_start(values, format);
  vsnprintf(words, sizeof words, format, values);
  va_end(values);
  text_say(&r->error, words);
}

void require(struct request *r, int good, const char *what) {
  if (!good) fail(r, "bad input: %s", what);
}

void *room(struct request *r, size_t count, size_t size) {
  // Aligned as malloc does it.
  size_t head = 16, bytes;
  if (failed(r)) return NULL;
  if (__builtin_mul_overflow(count + (count == 0), size, &bytes) ||
      __builtin_add_overflow(bytes, head, &bytes)) {
    fail(r, "not enough memory");
    return NULL;
  }
  char *memory = calloc(bytes, 1);
  if (!memory) {
    fail(r, "not enough memory");
    return NULL;
  }
  *(void **)memory = r->memory;
  r->memory = memory;
  return memory + head;
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int repeat_until(struct request *r, void (*run)(void *), void *data, int runs, double seconds) {
  size_t space = 0;
  uint64_t total = 0;
  do {
    if (r->runs == space) {
      space = 2 * space + 64;
      uint64_t *longer = realloc(r->nanoseconds, space * sizeof *longer);
      if (!longer) {
        fail(r, "not enough memory");
        return 0;
      }
      r->nanoseconds = longer;
    }
    // What is run may be anything, and read and write anything: every run is a whole one.
    __asm__ volatile("" : "+r"(run), "+r"(data) : : "memory");
    uint64_t start = now();
    run(data);
    uint64_t time = now() - start;
    r->nanoseconds[r->runs++] = time;
    total += time;
  } while (r->runs < (size_t)runs || total * 1e-9 < seconds);
  return 1;
}

int run_once(struct request *r, void (*run)(void *), void *data) {
  return !failed(r) && repeat_until(r, run, data, 1, 0);
}

int repeat(struct request *r, void (*run)(void *), void *data) {
  int count, runs = 1;
  double seconds = 0;
  if (failed(r)) return 0;
  json_field(r->input, "min_runs", &count);
  if (count > 0) runs = count_of(r, r->input, "min_runs");
  json_field(r->input, "min_seconds", &count);
  if (count > 0) seconds = number_of(r, r->input, "min_seconds");
  return !failed(r) && repeat_until(r, run, data, runs, seconds);
}

void write_words(struct request *r, const char *words) { text_say(&r->output, words); }

void write_number(struct request *r, double number) {
  if (!isfinite(number)) {
    fail(r, "the result is not finite");
    return;
  }
  char *at = text_room(&r->output, NUMBER_LENGTH);
  r->output.length += number_write(at, number) - at;
}

void write_numbers(struct request *r, const double *numbers, size_t count) {
  write_words(r, "[");
  for (size_t i = 0; i < count && !failed(r); i++) {
    if (i > 0) write_words(r, ",");
    write_number(r, numbers[i]);
  }
  write_words(r, "]");
}

void write_rows(struct request *r, const double *numbers, size_t rows, size_t width) {
  write_words(r, "[");
  for (size_t i = 0; i < rows && !failed(r); i++) {
    if (i > 0) write_words(r, ",");
    write_numbers(r, numbers + i * width, width);
  }
  write_words(r, "]");
}

void write_integers(struct request *r, const int *numbers, size_t count) {
  write_words(r, "[");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) write_words(r, ",");
    write_number(r, numbers[i]);
  }
  write_words(r, "]");
}
