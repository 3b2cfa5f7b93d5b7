// One `evaluate` message: its input, the repetitions under the clock, and the answer.
//
// The first thing that goes wrong is kept, and everything after it does nothing: `repeat` runs nothing,
// and says so. So an eval reads its input without looking back, and what it reads is only used by what
// `repeat` runs. Memory is freed when the message has been answered.
#ifndef EVALUATION_H
#define EVALUATION_H

#include <stdint.h>

#include "json.h"
#include "text.h"

struct request {
  const struct json *function, *input;
  // The result as JSON, or why there is none.
  struct text output, error;
  // Of each run.
  uint64_t *nanoseconds;
  size_t runs;
  // What is freed in the end, each with the address of the next at its beginning.
  void *memory;
};

// An eval: answers a request.
typedef void evaluate(struct request *r);

// Whether this function is asked for, and what to say if no function is.
int asks_for(const struct request *r, const char *function);
void no_function(struct request *r);

// Notes that the request cannot be answered.
__attribute__((format(printf, 2, 3))) void fail(struct request *r, const char *format, ...);
// Notes that the input is bad, if it is not good.
void require(struct request *r, int good, const char *what);

// A field of an object in the input, or of the input itself: a number, a number of things, whether
// something is so.
double number_of(struct request *r, const struct json *object, const char *name);
int count_of(struct request *r, const struct json *object, const char *name);
int truth_of(struct request *r, const struct json *object, const char *name);
const struct json *object_of(struct request *r, const struct json *object, const char *name);

// Numbers in an array, or in arrays of arrays. `sizes` has as many as there are dimensions; those that
// are negative are found out. In `indices_of` they count things.
double *numbers_of(struct request *r, const struct json *object, const char *name, int dimensions,
                   int *sizes);
int *indices_of(struct request *r, const struct json *object, const char *name, int dimensions,
                int *sizes);

// Memory for so many things, which are zero; one thing at least. Null if something went wrong.
void *room(struct request *r, size_t count, size_t size);

// Runs a function as often as the input says, under the clock. Whether there is a result to write.
int repeat(struct request *r, void (*run)(void *), void *data);
// Runs it once.
int run_once(struct request *r, void (*run)(void *), void *data);

// Writes parts of the result.
void write_words(struct request *r, const char *words);
void write_number(struct request *r, double number);
void write_numbers(struct request *r, const double *numbers, size_t count);
void write_rows(struct request *r, const double *numbers, size_t rows, size_t width);
void write_integers(struct request *r, const int *numbers, size_t count);

#endif
