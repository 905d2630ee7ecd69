/* Prints the size of every ABI struct, and the offset and size of each of its fields, as C11 sees
 * them. golden/abi/layout.txt is this output, and golden/abi/README.md says when it may change. */
#include <stdio.h>

#include "plumb/plumb.h"

#define STRUCT(type) printf("%s %zu\n", #type, sizeof(type));
#define FIELD(type, field) \
  printf("  %s %zu %zu\n", #field, offsetof(type, field), sizeof(((const type*)0)->field));

int main(void) {
#include "layout_list.h"
  return 0;
}
