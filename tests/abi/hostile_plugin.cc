// A plugin that breaks one promise: which one is the macro PLUMB_HOSTILE, one of the kinds below.
// Built once for each kind; all the rest of each is in order, so that a test sees the one fault.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "plumb/plumb.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/entry.h"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

enum Kind {
  healthy,
  no_entry,
  too_new,
  wrong_choice,
  silent_refusal,
  unknown_status,
  null_plugin,
  short_struct,
  null_probe,
  empty_id,
  bad_id,
  wild_string,
  throws_in_entry,
  probe_refuses,
  no_extension,
  short_table,
  null_function,
  flush_to_zero,
  named_only,
  aborts,
  hangs,
  exits,
  chatters,
  undefined_symbol,
};
constexpr Kind kKind = PLUMB_HOSTILE;
constexpr bool is(Kind kind) {
  return kKind == kind;
}

#define PLUMB_TEXT(x) #x
#define PLUMB_ID_OF(kind) "hostile." PLUMB_TEXT(kind)

plumb_str PLUMB_CALL stage_at(uint32_t) {
  return plumbline::to_abi("first");
}
plumb_str PLUMB_CALL schema_at(uint32_t) {
  return plumbline::to_abi("{}");
}
plumb_status PLUMB_CALL create(const plumb_host*, plumb_str, plumb_str, uint32_t, void**,
                               plumb_error*) {
  return PLUMB_OK;
}
void PLUMB_CALL destroy(void*) {}
uint64_t PLUMB_CALL scratch_bytes(void*) {
  return 0;
}
plumb_status PLUMB_CALL apply(void*, const plumb_sample_context*, void*,
                              plumb_candidates* candidates, plumb_error*) {
  candidates->picked = candidates->ids[0];
  return PLUMB_OK;
}

constexpr plumb_sampler kSampler = {
    is(short_table) ? uint32_t{16} : uint32_t{sizeof(plumb_sampler)},
    0,
    stage_at,
    schema_at,
    create,
    destroy,
    scratch_bytes,
    is(null_function) ? nullptr : apply,
    nullptr,
    nullptr,
    nullptr};

plumb_status PLUMB_CALL probe(plumb_error* error) {
  return is(probe_refuses) ? plumbline::fail(error, PLUMB_UNSUPPORTED, "needs\na processor of 2040")
                           : PLUMB_OK;
}
int32_t PLUMB_CALL rank() {
  return is(named_only) ? PLUMB_RANK_NAMED_ONLY : is(healthy) ? 7 : 3;
}
const void* PLUMB_CALL extension(plumb_str id) {
  return !is(no_extension) && plumbline::to_view(id) == PLUMB_EXT_SAMPLER ? &kSampler : nullptr;
}

constexpr plumb_str id() {
  if (is(empty_id)) return plumbline::to_abi("");
  if (is(bad_id)) return plumbline::to_abi("Evil/../Plugin");
  return plumbline::to_abi(PLUMB_ID_OF(PLUMB_HOSTILE));
}

const plumb_plugin kPlugin = {
    is(short_struct) ? uint32_t{24} : uint32_t{sizeof(plumb_plugin)},
    0,
    id(),
    plumbline::to_abi("1.0.0"),
    is(wild_string) ? plumb_str{nullptr, uint64_t{1} << 40} : plumbline::to_abi("Hostile"),
    plumbline::to_abi("Apache-2.0"),
    plumbline::to_abi("one\tline"),
    plumbline::to_abi("test"),
    is(null_probe) ? nullptr : probe,
    rank,
    extension};

struct AtLoad {
  AtLoad() {
    if (is(aborts)) std::abort();
    if (is(exits)) std::_Exit(0);
    if (is(chatters)) std::puts("hello");
    while (is(hangs)) {
    }
#if defined(__x86_64__)
    if (is(flush_to_zero))
      _mm_setcsr(_mm_getcsr() | 0x8040);  // FTZ and DAZ, as crtfastmath.o sets them
#endif
  }
} at_load;

}  // namespace

#if PLUMB_UNDEFINED
extern "C" int plumb_no_such_function();
#endif

extern "C" PLUMB_EXPORT plumb_status PLUMB_CALL PLUMB_HOSTILE_ENTRY(const plumb_offer* offer,
                                                                    plumb_answer* answer,
                                                                    plumb_error* error) {
#if PLUMB_UNDEFINED
  plumb_no_such_function();
#endif
  if (is(silent_refusal)) return PLUMB_INTERNAL;
  if (is(unknown_status)) return 999;
  if (is(throws_in_entry)) throw std::runtime_error("thrown over the line");
  if (is(too_new)) {
    answer->version_oldest = 7;
    answer->version_newest = 9;
    return plumbline::fail(error, PLUMB_INCOMPATIBLE, "too old a host");
  }
  const plumb_status status = plumbline::answer_offer(kPlugin, offer, answer, error);
  if (is(null_plugin)) answer->plugin = nullptr;
  if (is(wrong_choice)) answer->version = 5;
  return status;
}
