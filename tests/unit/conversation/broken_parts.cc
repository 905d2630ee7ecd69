#include "tests/unit/conversation/broken_parts.h"

#include <cmath>
#include <limits>

#include "plumb/ext/kernels.h"
#include "plumb/ext/tokenizer.h"
#include "plumb/sdk/abi.h"
#include "tests/support/build_host.h"

namespace plumbline::test {
namespace {

std::atomic<Break> g_break{Break::kNothing};
std::atomic<int> g_uses_left{0};

bool breaks_now(Break what) {
  return g_break == what && g_uses_left.fetch_sub(1) <= 0;
}

const Loaded<plumb_tokenizer>& whole_tokenizer() {
  static const auto found = *host().find<plumb_tokenizer>({.pin = "plumb.tokenizers.hf"});
  return found;
}

const Loaded<plumb_kernels>& whole_kernels() {
  static const auto found = *host().find<plumb_kernels>({.pin = "plumb.cpu.scalar"});
  return found;
}

plumb_status create_tokenizer(const plumb_host*, const plumb_metadata* metadata, plumb_str options,
                              void** self, plumb_error* error) {
  return whole_tokenizer().table->create(whole_tokenizer().host, metadata, options, self, error);
}

plumb_status piece(void* self, int32_t id, uint32_t is_first, plumb_bytes* bytes,
                   plumb_error* error) {
  if (breaks_now(Break::kPieceFails)) return fail(error, PLUMB_INTERNAL, "the vocabulary is gone");
  const plumb_status status = whole_tokenizer().table->piece(self, id, is_first, bytes, error);
  static constexpr uint8_t kNoUtf8[] = {0xE4, 0xB8, 0xFF, 0xC0};
  if (status == PLUMB_OK && breaks_now(Break::kPieceIsNoUtf8)) *bytes = {kNoUtf8, sizeof kNoUtf8};
  return status;
}

plumb_status create_kernels(const plumb_host*, const plumb_kernels_config* config, void** self,
                            plumb_error* error) {
  return whole_kernels().table->create(whole_kernels().host, config, self, error);
}

// The head is the one product of rows of the vocabulary's width.
constexpr uint32_t kWidest = 400;

plumb_status execute(void* self, const plumb_op* ops, uint32_t n_ops, plumb_handle worker,
                     uint32_t part, uint32_t n_parts, plumb_error* error) {
  const plumb_kernels& whole = *whole_kernels().table;
  const plumb_status status = whole.execute(self, ops, n_ops, worker, part, n_parts, error);
  const bool is_head = ops->kind == PLUMB_OP_MATMUL && ops->as.matmul.n_out > kWidest;
  if (status != PLUMB_OK || part != 0 || !is_head || !breaks_now(Break::kNanLogits)) return status;
  auto* const logits = static_cast<float*>(whole.host_pointer(self, ops->as.matmul.out));
  logits[0] = std::numeric_limits<float>::quiet_NaN();
  return status;
}

const void* extension(plumb_str id) {
  static const plumb_tokenizer tokenizer = [] {
    plumb_tokenizer table = *whole_tokenizer().table;
    table.create = create_tokenizer;
    table.piece = piece;
    return table;
  }();
  static const plumb_kernels kernels = [] {
    plumb_kernels table = *whole_kernels().table;
    table.create = create_kernels;
    table.execute = execute;
    return table;
  }();
  if (to_view(id) == PLUMB_EXT_TOKENIZER) return &tokenizer;
  return to_view(id) == PLUMB_EXT_KERNELS ? &kernels : nullptr;
}

plumb_status probe(plumb_error*) {
  return PLUMB_OK;
}
int32_t rank() {
  return PLUMB_RANK_NAMED_ONLY;
}

const plumb_plugin kPlugin = {sizeof(plumb_plugin),
                              0,
                              to_abi("test.broken"),
                              to_abi("1.0.0"),
                              to_abi("Plumbline"),
                              to_abi("Apache-2.0"),
                              to_abi("Breaks when a test says so"),
                              to_abi(""),
                              probe,
                              rank,
                              extension};

plumb_status entry(const plumb_offer*, plumb_answer* answer, plumb_error*) {
  answer->version = answer->version_oldest = answer->version_newest = PLUMB_ABI_VERSION;
  answer->plugin = &kPlugin;
  return PLUMB_OK;
}

}  // namespace

void break_part(Break what, int after) {
  g_uses_left = after;
  g_break = what;
}

Host& host_with_broken_parts() {
  static Host instance = [] {
    auto made = Host::create({.paths = {PLUMB_BUILD_PLUGIN_DIR},
                              .search_environment = false,
                              .search_user = false,
                              .search_install = false,
                              .static_plugins = {entry}});
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return *std::move(made);
  }();
  return instance;
}

}  // namespace plumbline::test
