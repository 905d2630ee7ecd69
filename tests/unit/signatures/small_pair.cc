#include "tests/unit/signatures/small_pair.h"

#include <gtest/gtest.h>

#include <map>

#include "core/model/quantize.h"
#include "tests/support/build_plugins.h"

namespace plumbline::diff::test {
namespace {

using plumbline::test::open_plugins;
using plumbline::test::small_host;

const plumb_kernels* find_kernels(std::string_view id) {
  static const std::vector<const plumb_plugin*> all =
      open_plugins(PLUMB_BUILD_PLUGIN_DIR, PLUMB_EXT_KERNELS);
  for (const plumb_plugin* plugin : all) {
    if (to_view(plugin->id) == id)
      return static_cast<const plumb_kernels*>(plugin->extension(to_abi(PLUMB_EXT_KERNELS)));
  }
  return nullptr;
}

/// The small host, which also finds the plugin that a fault wraps.
const plumb_host& wrapping_host() {
  static const plumb_host host = [] {
    plumb_host made = small_host();
    made.find_extension = [](void*, plumb_str, plumb_str plugin, const void** table,
                             const plumb_host** inner_host, plumb_error* error) -> plumb_status {
      *table = find_kernels(to_view(plugin));
      *inner_host = &small_host();
      return *table != nullptr ? PLUMB_OK : fail(error, PLUMB_NOT_FOUND, "no such plugin");
    };
    return made;
  }();
  return host;
}

template <typename Table>
const Table& gguf(const char* extension) {
  for (const plumb_plugin* plugin : open_plugins(PLUMB_BUILD_PLUGIN_DIR, extension)) {
    if (to_view(plugin->id) == "plumb.loaders.gguf")
      return *static_cast<const Table*>(plugin->extension(to_abi(extension)));
  }
  throw std::runtime_error("plumb.loaders.gguf is not in " PLUMB_BUILD_PLUGIN_DIR);
}

const plumb_loader& loader() {
  static const auto& table = gguf<plumb_loader>(PLUMB_EXT_LOADER);
  return table;
}

}  // namespace

std::unique_ptr<Side> Side::create(const std::string& model, const SideOptions& options,
                                   std::string* why) {
  const auto refuse = [&](const Error& error) {
    *why = error.message;
    return nullptr;
  };
  const std::string path =
      model.starts_with("/") ? model : PLUMB_SOURCE_DIR "/golden/models/" + model + "/model.gguf";
  auto file = model::ModelFile::open(loader(), &small_host(), path);
  if (!file) return refuse(file.error());
  auto side = std::unique_ptr<Side>(new Side(*std::move(file)));
  model::DecoderOptions decoder;
  decoder.activations = options.activations;
  const auto add = [&](const std::string& id, const std::string& json) -> Result<void> {
    const plumb_kernels* table = find_kernels(id);
    if (table == nullptr) return Error{PLUMB_NOT_FOUND, id + ": not built"};
    PLUMB_ASSIGN(auto backend, model::Backend::create(id, *table, &wrapping_host(), 1, json, ""));
    decoder.backends.push_back(backend.get());
    side->backends_.push_back(std::move(backend));
    return {};
  };
  if (const auto added = add(options.backend, "{}"); !added) return refuse(added.error());
  if (!options.fault.empty()) {
    const std::string amount = options.amount.empty() ? "" : ", \"amount\": " + options.amount;
    const auto added = add("plumb.fault", "{\"inner\": \"" + options.backend + "\", \"fault\": \"" +
                                              options.fault + "\"" + amount + "}");
    if (!added) return refuse(added.error());
    decoder.overrides.push_back(
        {.op = options.op, .first_layer = 1, .last_layer = 1, .backend = 1});
  }
  auto made = model::Decoder::create(side->file_, side->pool_, decoder);
  if (!made) return refuse(made.error());
  side->decoder_ = *std::move(made);
  return side;
}

std::string quantised_model(const std::string& model, plumb_format to, const std::string& out) {
  std::string why;
  const auto side = Side::create(model, {}, &why);
  if (!side) throw std::runtime_error(why);
  ThreadPool pool(1);
  static const auto& writer = gguf<plumb_model_writer>(PLUMB_EXT_MODEL_WRITER);
  const auto done = model::quantize(*side->pair_side().file, writer, pool, out, {.to = to});
  if (!done) throw std::runtime_error(done.error().message);
  return out;
}

std::vector<int32_t> made_ids(size_t n, uint32_t n_vocab) {
  std::vector<int32_t> ids(n);
  for (size_t i = 0; i < n; ++i)
    ids[i] = static_cast<int32_t>((i * 2654435761u + 12345u) / 7 % n_vocab);
  return ids;
}

void show_op(const std::string& model, const std::string& op,
             const std::function<void(OpEvidence)>& visit) {
  std::string why;
  const auto side = Side::create(model, {}, &why);
  ASSERT_TRUE(side) << why;
  int n = 0;
  visit_ops(
      side->pair_side(), nullptr, made_ids(13, side->n_vocab()), {4, 9},
      [&](const model::OpInfo& info) { return info.name == op; },
      [&](const OpEvidence& evidence) {
        ++n;
        visit(evidence);
      });
  EXPECT_EQ(n, 1) << op;
}

}  // namespace plumbline::diff::test
