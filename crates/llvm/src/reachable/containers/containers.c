// Bodies of functions that the containers of the C++ library call and that no header defines: how
// trees and lists change their shape. Derivatives go through them like through any other code, so
// the shadow of a tree gets the shape of the tree.
//
// `containers.ll` is made from this file by `regenerate.sh` beside it.

#include <stddef.h>

// The node of a red-black tree. The header has the root as parent, the first node on its left and
// the last on its right, and is red; the root is black.
enum color { RED, BLACK };

struct node {
  enum color color;
  struct node *parent, *left, *right;
};

static struct node *first(struct node *x) {
  while (x->left) x = x->left;
  return x;
}

static struct node *last(struct node *x) {
  while (x->right) x = x->right;
  return x;
}

// Makes the parent of `old` lead to `new` instead.
static void replace(struct node *header, struct node *old, struct node *new) {
  struct node *parent = old->parent;
  if (header->parent == old)
    header->parent = new;
  else if (parent->left == old)
    parent->left = new;
  else
    parent->right = new;
}

static void rotate_left(struct node *header, struct node *x) {
  struct node *y = x->right;
  x->right = y->left;
  if (y->left) y->left->parent = x;
  replace(header, x, y);
  y->parent = x->parent;
  y->left = x;
  x->parent = y;
}

static void rotate_right(struct node *header, struct node *x) {
  struct node *y = x->left;
  x->left = y->right;
  if (y->right) y->right->parent = x;
  replace(header, x, y);
  y->parent = x->parent;
  y->right = x;
  x->parent = y;
}

static int is_black(const struct node *x) { return !x || x->color == BLACK; }

void insert(_Bool left, struct node *x, struct node *parent, struct node *header)
    __asm__("_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_");

void insert(_Bool left, struct node *x, struct node *parent, struct node *header) {
  x->parent = parent;
  x->left = x->right = NULL;
  x->color = RED;
  if (parent == header) {
    header->parent = header->left = header->right = x;
  } else if (left) {
    parent->left = x;
    if (header->left == parent) header->left = x;
  } else {
    parent->right = x;
    if (header->right == parent) header->right = x;
  }
  while (x != header->parent && x->parent->color == RED) {
    struct node *up = x->parent, *top = up->parent;
    int on_left = up == top->left;
    struct node *uncle = on_left ? top->right : top->left;
    if (!is_black(uncle)) {
      up->color = uncle->color = BLACK;
      top->color = RED;
      x = top;
      continue;
    }
    if (on_left && x == up->right) {
      rotate_left(header, up);
      up = x;
    } else if (!on_left && x == up->left) {
      rotate_right(header, up);
      up = x;
    }
    up->color = BLACK;
    top->color = RED;
    if (on_left)
      rotate_right(header, top);
    else
      rotate_left(header, top);
    break;
  }
  header->parent->color = BLACK;
}

// One black node too few is on the way through `x`, a child of `parent`.
static void darken(struct node *header, struct node *x, struct node *parent) {
  while (x != header->parent && is_black(x)) {
    int on_left = x == parent->left;
    struct node *sibling = on_left ? parent->right : parent->left;
    if (sibling->color == RED) {
      sibling->color = BLACK;
      parent->color = RED;
      if (on_left)
        rotate_left(header, parent);
      else
        rotate_right(header, parent);
      sibling = on_left ? parent->right : parent->left;
    }
    if (is_black(sibling->left) && is_black(sibling->right)) {
      sibling->color = RED;
      x = parent;
      parent = x->parent;
      continue;
    }
    if (on_left) {
      if (is_black(sibling->right)) {
        sibling->left->color = BLACK;
        sibling->color = RED;
        rotate_right(header, sibling);
        sibling = parent->right;
      }
      sibling->right->color = BLACK;
    } else {
      if (is_black(sibling->left)) {
        sibling->right->color = BLACK;
        sibling->color = RED;
        rotate_left(header, sibling);
        sibling = parent->left;
      }
      sibling->left->color = BLACK;
    }
    sibling->color = parent->color;
    parent->color = BLACK;
    if (on_left)
      rotate_left(header, parent);
    else
      rotate_right(header, parent);
    break;
  }
  if (x) x->color = BLACK;
}

struct node *erase(struct node *z, struct node *header)
    __asm__("_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_");

struct node *erase(struct node *z, struct node *header) {
  struct node *x, *parent;
  enum color removed;
  if (z->left && z->right) {
    struct node *y = first(z->right);
    removed = y->color;
    x = y->right;
    parent = y;
    if (y->parent != z) {
      parent = y->parent;
      if (x) x->parent = parent;
      parent->left = x;
      y->right = z->right;
      y->right->parent = y;
    }
    replace(header, z, y);
    y->left = z->left;
    y->left->parent = y;
    y->parent = z->parent;
    y->color = z->color;
  } else {
    removed = z->color;
    x = z->left ? z->left : z->right;
    parent = z->parent;
    if (x) x->parent = parent;
    if (header->left == z) header->left = z->right ? first(z->right) : parent;
    if (header->right == z) header->right = z->left ? last(z->left) : parent;
    replace(header, z, x);
  }
  if (removed == BLACK) darken(header, x, parent);
  return z;
}

static struct node *next(struct node *x) {
  if (x->right) return first(x->right);
  struct node *up = x->parent;
  while (x == up->right) {
    x = up;
    up = up->parent;
  }
  // From the last node of a tree without a right side of its root, the loop ends above the header.
  return x->right == up ? x : up;
}

static struct node *previous(struct node *x) {
  if (x->color == RED && x->parent->parent == x) return x->right;
  if (x->left) return last(x->left);
  struct node *up = x->parent;
  while (x == up->left) {
    x = up;
    up = up->parent;
  }
  return up;
}

#define STEP(name, symbol, step)                    \
  struct node *name(struct node *x) __asm__(symbol); \
  struct node *name(struct node *x) { return step(x); }

STEP(increment, "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", next)
STEP(increment_const, "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base", next)
STEP(decrement, "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base", previous)
STEP(decrement_const, "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base", previous)

// The node of a list, which is a ring through its header.
struct link {
  struct link *next, *prev;
};

static void join(struct link *a, struct link *b) {
  a->next = b;
  b->prev = a;
}

void hook(struct link *x, struct link *at) __asm__("_ZNSt8__detail15_List_node_base7_M_hookEPS0_");

void hook(struct link *x, struct link *at) {
  join(at->prev, x);
  join(x, at);
}

void unhook(struct link *x) __asm__("_ZNSt8__detail15_List_node_base9_M_unhookEv");

void unhook(struct link *x) { join(x->prev, x->next); }

// Moves [begin, end) before `at`.
void transfer(struct link *at, struct link *begin, struct link *end)
    __asm__("_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_");

void transfer(struct link *at, struct link *begin, struct link *end) {
  if (at == end) return;
  struct link *back = end->prev;
  join(begin->prev, end);
  join(at->prev, begin);
  join(back, at);
}

void reverse(struct link *header) __asm__("_ZNSt8__detail15_List_node_base10_M_reverseEv");

void reverse(struct link *header) {
  struct link *x = header;
  do {
    struct link *after = x->next;
    x->next = x->prev;
    x->prev = after;
    x = after;
  } while (x != header);
}

void exchange(struct link *x, struct link *y)
    __asm__("_ZNSt8__detail15_List_node_base4swapERS0_S1_");

void exchange(struct link *x, struct link *y) {
  struct link a = *x, b = *y;
  if (b.next == y) {
    x->next = x->prev = x;
  } else {
    join(x, b.next);
    join(b.prev, x);
  }
  if (a.next == x) {
    y->next = y->prev = y;
  } else {
    join(y, a.next);
    join(a.prev, y);
  }
}
