// The tool: GradBench's protocol on stdin and stdout, one message in a line of JSON, one line in answer.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluation.h"
#include "evals/evals.h"

struct message {
  const struct json *id, *kind, *module, *function, *input;
};

static const char *const MODULES[] = {
#define NAME(module) #module,
    EVALS(NAME)
#undef NAME
};

static evaluate *const EVALUATE[] = {
#define FUNCTION(module) module##_evaluate,
    EVALS(FUNCTION)
#undef FUNCTION
};

// A field that may be there; null if it is not, or is nothing.
static const struct json *optional(const struct json *object, const char *name, const char **wrong) {
  int count;
  const struct json *found = json_field(object, name, &count);
  if (count > 1) *wrong = "a field is there twice";
  return found && found->kind == JSON_NULL ? NULL : found;
}

static const struct json *optional_string(const struct json *object, const char *name,
                                          const char **wrong) {
  const struct json *found = optional(object, name, wrong);
  if (found && found->kind != JSON_STRING) *wrong = "a name is not a string";
  return found;
}

static int is_integer(const struct json *value) {
  char *end;
  if (value->kind != JSON_NUMBER) return 0;
  errno = 0;
  strtoll(value->text, &end, 10);
  return end == value->text + value->length && errno == 0;
}

// The parts of a message, or what is wrong with it.
static const char *read_message(const struct json *json, struct message *m) {
  const char *wrong = NULL;
  if (json->kind != JSON_OBJECT) return "it is not an object";
  m->id = optional(json, "id", &wrong);
  m->kind = optional_string(json, "kind", &wrong);
  m->module = optional_string(json, "module", &wrong);
  m->function = optional_string(json, "function", &wrong);
  m->input = optional(json, "input", &wrong);
  if (!m->id || !is_integer(m->id)) return "it has no id that is an integer";
  if (!m->kind) return "it has no kind";
  return wrong;
}

// The module that a message names; null, with an error, if there is none.
static evaluate *module(const struct message *m, struct request *r) {
  if (!m->module) {
    fail(r, "the message names no module");
    return NULL;
  }
  for (size_t i = 0; i < sizeof MODULES / sizeof *MODULES; i++)
    if (json_is(m->module, MODULES[i])) return EVALUATE[i];
  fail(r, "no module %.*s", (int)m->module->length, m->module->text);
  return NULL;
}

static void evaluate_message(const struct message *m, struct request *r) {
  if (!m->function) fail(r, "the message names no function");
  if (!m->input) fail(r, "the message has no input");
  evaluate *eval = module(m, r);
  if (eval && m->function && m->input) eval(r);
}

// The line that answers a message, in two parts: an output, which may be long, belongs between them.
static void answer(const struct message *m, struct request *r, struct text *head, struct text *tail) {
  text_say(head, "{\"id\":");
  text_add(head, m->id->text, m->id->length);
  int define = json_is(m->kind, "define"), evaluate = json_is(m->kind, "evaluate");
  if (json_is(m->kind, "start")) text_say(head, ",\"tool\":\"zymase\"");
  if (define) module(m, r);
  if (evaluate) evaluate_message(m, r);
  if (r->error.length > 0) {
    r->output.length = 0;
    text_say(head, ",\"success\":false,\"error\":");
    text_quote(head, r->error.at, r->error.length);
  } else if (define) {
    text_say(head, ",\"success\":true");
  } else if (evaluate) {
    text_say(head, ",\"success\":true,\"output\":");
    text_say(tail, ",\"timings\":[");
    for (size_t i = 0; i < r->runs; i++)
      text_format(tail, "%s{\"name\":\"evaluate\",\"nanoseconds\":%llu}", i > 0 ? "," : "",
                  (unsigned long long)r->nanoseconds[i]);
    text_say(tail, "]");
  }
  text_say(tail, "}\n");
}

static int write_text(const struct text *t) {
  return t->length == 0 || fwrite(t->at, 1, t->length, stdout) == t->length;
}

static void free_request(struct request *r) {
  while (r->memory) {
    void *next = *(void **)r->memory;
    free(r->memory);
    r->memory = next;
  }
  free(r->output.at);
  free(r->error.at);
  free(r->nanoseconds);
}

static int stop(const char *what, const char *why) {
  fprintf(stderr, "zymase-gradbench: %s: %s\n", what, why);
  return 1;
}

// Answers one line. Zero, or the exit code.
static int serve(struct json_text *json, char *line, size_t length) {
  struct message m;
  const char *wrong = json_read(json, line, length);
  if (!wrong) wrong = read_message(json->nodes, &m);
  if (wrong) return stop("cannot read a message", wrong);
  struct request r = {.function = m.function, .input = m.input};
  struct text head = {0}, tail = {0};
  answer(&m, &r, &head, &tail);
  int written = write_text(&head) && write_text(&r.output) && write_text(&tail) && fflush(stdout) == 0;
  free(head.at);
  free(tail.at);
  free_request(&r);
  return written ? 0 : stop("cannot write an answer", strerror(errno));
}

int main(void) {
  struct json_text json = {0};
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  int code = 0;
  setvbuf(stdin, NULL, _IOFBF, 1 << 20);
  while (code == 0 && (length = getline(&line, &room, stdin)) >= 0)
    code = serve(&json, line, length);
  if (code == 0 && !feof(stdin)) code = stop("cannot read a message", strerror(errno));
  free(line);
  free(json.nodes);
  return code;
}
