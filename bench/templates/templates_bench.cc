// templates_bench.cc: a conversation of 41 messages in Qwen3's template, from the context as JSON
// to the bytes of the prompt, in every template engine that was built; once more with provenance.
// The engines take turns, so that what else the machine does falls on all alike. Medians.
//
//   templates_bench [rounds]
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "plumb/ext/template.h"
#include "plumb/sdk/abi.h"

namespace plumbline::bench {
namespace {

constexpr int kRenders = 50;  // in one turn of an engine

void require(plumb_status status, const ErrorBuffer& error) {
  if (status != PLUMB_OK) throw std::runtime_error(error.take(status).message);
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A system message and twenty exchanges, with texts of the length of chat.
nlohmann::ordered_json conversation() {
  nlohmann::ordered_json messages;
  messages.push_back(
      {{"role", "system"}, {"content", "You answer briefly and say what you do not know."}});
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    messages.push_back({{"role", "user"},
                        {"content", "Question " + number +
                                        ": how far is it from Ulm to \"Graz\",\nand "
                                        "is the road over the pass open in winter?"}});
    messages.push_back(
        {{"role", "assistant"},
         {"content", "Answer " + number +
                         ": about 430 kilometres. The pass is open all year, but "
                         "chains may be asked for; it is wise to look at the road report first – "
                         "it changes by the hour."}});
  }
  return {{"messages", messages}, {"tools", nullptr}, {"add_generation_prompt", true}};
}

struct Engine {
  std::string id;
  const plumb_template_engine* table;
  void* self;
  std::vector<double> plain_us;
  std::vector<double> marked_us;
};

/// The engine in a library, with the template compiled, or one without a table.
Engine load(const std::filesystem::path& library, const std::string& source) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<plumb_plugin_entry_fn>(dlsym(handle, PLUMB_PLUGIN_ENTRY));
  static const auto host = make_abi<plumb_host>();
  auto offer = make_abi<plumb_offer>();
  offer.version_oldest = PLUMB_ABI_OLDEST;
  offer.version_newest = PLUMB_ABI_VERSION;
  offer.host = &host;
  auto answer = make_abi<plumb_answer>();
  ErrorBuffer error;
  require(entry(&offer, &answer, error), error);
  Engine engine{to_string(answer.plugin->id), nullptr, nullptr, {}, {}};
  engine.table = static_cast<const plumb_template_engine*>(
      answer.plugin->extension(to_abi(PLUMB_EXT_TEMPLATE)));
  require(engine.table->create(&host, to_abi(source), to_abi(R"({"undefined": "hf"})"),
                               &engine.self, error),
          error);
  return engine;
}

struct Request {
  plumb_render_request request;
  plumb_spans spans;
  std::vector<plumb_span> places;
  std::vector<char> out;
  uint64_t n_bytes = 0;
};

double render_us(const Engine& engine, Request& to) {
  ErrorBuffer error;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRenders; ++i) {
    require(engine.table->render(engine.self, &to.request, to.out.data(), to.out.size(),
                                 &to.n_bytes, error),
            error);
  }
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
  return spent.count() / kRenders;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

int run(int rounds) {
  const std::string source = read_text(PLUMB_SOURCE_DIR "/golden/templates/qwen3.jinja");
  const auto context = conversation();
  const std::string context_json = context.dump();
  std::string pointers;
  for (std::size_t i = 0; i < context["messages"].size(); ++i)
    pointers += (i == 0 ? "[" : ", ") + ("\"/messages/" + std::to_string(i) + "/content\"");
  pointers += "]";

  std::vector<Engine> engines;
  for (const auto& file : std::filesystem::directory_iterator(PLUMB_BUILD_PLUGIN_DIR)) {
    const std::string name = file.path().filename();
    if (!name.starts_with("plumb.templates.") || !name.ends_with(".so")) continue;
    if (name == "plumb.templates.raw.so") continue;  // renders no template
    engines.push_back(load(file.path(), source));
  }
  std::ranges::sort(engines, {}, &Engine::id);

  Request plain{make_abi<plumb_render_request>(), make_abi<plumb_spans>(),
                std::vector<plumb_span>(4096), std::vector<char>(1 << 20)};
  plain.request.context_json = to_abi(context_json);
  Request marked = plain;
  marked.request.untrusted_json = to_abi(pointers);
  marked.request.untrusted = &marked.spans;
  marked.spans.spans = marked.places.data();
  marked.spans.capacity = marked.places.size();
  for (int round = 0; round < rounds; ++round) {
    for (Engine& engine : engines) {
      engine.plain_us.push_back(render_us(engine, plain));
      engine.marked_us.push_back(render_us(engine, marked));
    }
  }
  std::printf("%zu messages, %zu bytes of context, %llu bytes of prompt; medians of %d turns\n",
              context["messages"].size(), context_json.size(),
              static_cast<unsigned long long>(plain.n_bytes), rounds);
  for (Engine& engine : engines) {
    std::printf("%-28s %8.2f us  with provenance %8.2f us\n", engine.id.c_str(),
                median(engine.plain_us), median(engine.marked_us));
    engine.table->destroy(engine.self);
  }
  return 0;
}

}  // namespace
}  // namespace plumbline::bench

int main(int argc, char** argv) {
  try {
    return plumbline::bench::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 100);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "templates_bench: %s\n", failure.what());
    return 1;
  }
}
