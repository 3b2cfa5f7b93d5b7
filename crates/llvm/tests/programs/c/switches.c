// Switches: dense tables, sparse values, ranges, fall through, and a small machine.
#include <stdio.h>
static int dense(int x) { switch (x) { case 0: return 5; case 1: return 3; case 2: return 8; case 3: return 1; case 4: return 9; case 5: return 2; case 6: return 7; default: return -1; } }
static int sparse(long x) { switch (x) { case -1000000000000: return 1; case 0: return 2; case 77: return 3; case 4096: return 4; case 1000000000000: return 5; default: return 0; } }
static int fall(int x) { int r = 0; switch (x) { case 3: r += 100; case 2: r += 10; case 1: r += 1; break; case 10 ... 20: r = x; break; default: r = -x; } return r; }
enum op { PUSH, ADD, MUL, DUP, SWAP, JNZ, DEC, PRINT, HALT };
static void machine(const int *code) {
  int stack[32], sp = 0, pc = 0;
  for (;;) switch (code[pc++]) {
    case PUSH: stack[sp++] = code[pc++]; break;
    case ADD: sp--; stack[sp - 1] += stack[sp]; break;
    case MUL: sp--; stack[sp - 1] *= stack[sp]; break;
    case DUP: stack[sp] = stack[sp - 1]; sp++; break;
    case SWAP: { int t = stack[sp - 1]; stack[sp - 1] = stack[sp - 2]; stack[sp - 2] = t; break; }
    case JNZ: { int to = code[pc++]; if (stack[sp - 1]) pc = to; break; }
    case DEC: stack[sp - 1]--; break;
    case PRINT: printf("%d\n", stack[--sp]); break;
    case HALT: return;
  }
}
int main(void) {
  for (int i = -1; i < 8; i++) printf("%d ", dense(i));
  printf("%d %d %d\n", sparse(-1000000000000), sparse(77), sparse(78));
  for (int i = 0; i < 25; i += 3) printf("%d ", fall(i)); printf("%d\n", fall(2));
  const int code[] = {PUSH, 3, PUSH, 5, SWAP, PUSH, 2, MUL, SWAP, DEC, JNZ, 4, SWAP, PRINT, HALT}; machine(code);
}
