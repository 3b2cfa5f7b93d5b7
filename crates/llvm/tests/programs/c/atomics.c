// Atomic operations of every ordering, on integers and pointers.
#include <stdatomic.h>
#include <stdio.h>
static atomic_int counter; static _Atomic long big = 5; static _Atomic(void *) where; static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic double real = 1.5; static _Atomic unsigned char small = 250;
int main(void) {
  for (int i = 0; i < 10; i++) atomic_fetch_add_explicit(&counter, i, memory_order_relaxed);
  int old = atomic_exchange(&counter, 100), want = 100; int ok = atomic_compare_exchange_strong(&counter, &want, 7); want = 1; int no = atomic_compare_exchange_weak_explicit(&counter, &want, 8, memory_order_acq_rel, memory_order_acquire);
  printf("%d %d %d %d %d\n", old, ok, no, want, atomic_load_explicit(&counter, memory_order_acquire));
  atomic_fetch_or(&big, 8); atomic_fetch_and(&big, 13); atomic_fetch_xor(&big, 3); atomic_fetch_sub(&big, 20); printf("%ld\n", (long)big);
  atomic_store_explicit(&where, &counter, memory_order_release); atomic_thread_fence(memory_order_seq_cst); atomic_signal_fence(memory_order_acquire); printf("%d\n", where == &counter);
  printf("%d %d\n", atomic_flag_test_and_set(&flag), atomic_flag_test_and_set(&flag)); real += 2.25; real = real * 2; small += 10; printf("%g %d\n", (double)real, small);
  printf("%d %d\n", __atomic_fetch_max(&(int){3}, 9, __ATOMIC_SEQ_CST), __sync_fetch_and_nand(&(int){12}, 10));
}
