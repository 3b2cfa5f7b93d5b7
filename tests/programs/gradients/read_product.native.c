// Compiled to a native object, so that nothing is known about it.
int read_calls;

double read_value(void) {
  read_calls++;
  return 1.0 + 0.25 * read_calls;
}

void read_rewind(void) { read_calls = 0; }
