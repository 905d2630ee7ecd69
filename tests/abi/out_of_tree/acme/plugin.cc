// The smallest plugin in C++: it has an id, and nothing to offer.
#include <plumb/sdk/entry.h>

namespace {

plumb_status PLUMB_CALL probe(plumb_error*) {
  return PLUMB_OK;
}
int32_t PLUMB_CALL rank() {
  return 0;
}
const void* PLUMB_CALL extension(plumb_str) {
  return nullptr;
}

using plumbline::to_abi;
const plumb_plugin kPlugin = {sizeof(plumb_plugin),
                              0,
                              to_abi("acme.cxx"),
                              to_abi("1.0.0"),
                              to_abi("Acme"),
                              to_abi("Apache-2.0"),
                              to_abi("Offers nothing"),
                              to_abi(""),
                              probe,
                              rank,
                              extension};

}  // namespace

PLUMB_DEFINE_ENTRY(kPlugin)
