// tokenizers_bench: a tokenizer plugin beside other people's libraries, on one thread, on the same
// chunks. See README.md.
#include <dlfcn.h>

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/os/mapped_file.h"
#include "core/host/host.h"
#include "plugins/tokenizers/hf/words/cursor.h"
#include "plumb/ext/tokenizer.h"
#include "plumb/metadata.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/tokenizer/encoder.h"

namespace plumbline {
namespace {

/// Seconds of processor time of this thread: what others do on the machine counts less.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

constexpr size_t kChunkBytes = 4096;
constexpr size_t kBlockChunks = 256;
constexpr int kLoads = 5;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::string content(file ? static_cast<size_t>(file.tellg()) : 0, '\0');
  if (!file.seekg(0).read(content.data(), static_cast<std::streamsize>(content.size())))
    throw std::runtime_error(path + ": cannot be read");
  return content;
}

/// Something that turns a text into ids.
class Encoder {
 public:
  virtual ~Encoder() = default;
  /// Ids are written to `ids`, which has room for all; returns how many.
  virtual size_t encode(std::string_view text, std::vector<int32_t>& ids) = 0;
};

class Rivals {
 public:
  explicit Rivals(const std::string& library) : library_(dlopen(library.c_str(), RTLD_NOW)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
    find(open_, "rival_open");
    find(encode_, "rival_encode");
    find(close_, "rival_close");
  }

  std::unique_ptr<Encoder> open(std::string_view name, std::string_view path) const {
    void* rival = open_(name.data(), name.size(), path.data(), path.size());
    if (rival == nullptr) throw std::runtime_error("no rival " + std::string(name));
    return std::make_unique<Rival>(*this, rival);
  }

 private:
  class Rival : public Encoder {
   public:
    Rival(const Rivals& rivals, void* self) : rivals_(rivals), self_(self) {}
    ~Rival() override { rivals_.close_(self_); }
    size_t encode(std::string_view text, std::vector<int32_t>& ids) override {
      return rivals_.encode_(self_, text.data(), text.size(), ids.data(), ids.size());
    }

   private:
    const Rivals& rivals_;
    void* self_;
  };

  template <typename Function>
  void find(Function*& out, const char* name) {
    out = reinterpret_cast<Function*>(dlsym(library_, name));
    if (out == nullptr) throw std::runtime_error(dlerror());
  }

  void* library_;
  void* (*open_)(const char*, size_t, const char*, size_t) = nullptr;
  size_t (*encode_)(void*, const char*, size_t, int32_t*, size_t) = nullptr;
  void (*close_)(void*) = nullptr;
};

/// A plugin that serves a tokenizer.json, through its C table.
class Ours : public Encoder {
 public:
  Ours(Host& host, const std::string& path) : file_(open(path)) {
    metadata_.context = this;
    metadata_.get = [](void* self, plumb_str key, plumb_value* value) -> plumb_status {
      if (to_view(key) != "tokenizer.huggingface.json") return PLUMB_NOT_FOUND;
      value->type = PLUMB_VALUE_STR;
      const plumb_bytes bytes = static_cast<Ours*>(self)->file_.bytes();
      value->as.str = {reinterpret_cast<const char*>(bytes.data), bytes.bytes};
      return PLUMB_OK;
    };
    metadata_.key_at = [](void*, uint64_t) { return plumb_str{nullptr, 0}; };
    const auto found = host.find<plumb_tokenizer>({.pin = "plumb.tokenizers.hf"});
    if (!found) throw std::runtime_error(found.error().message);
    table_ = found->table;
    ErrorBuffer error;
    if (table_->create(found->host, &metadata_, {nullptr, 0}, &self_, error) != PLUMB_OK)
      throw std::runtime_error(std::string(error.message()));
  }
  ~Ours() override {
    if (self_ != nullptr) table_->destroy(self_);
  }
  size_t encode(std::string_view text, std::vector<int32_t>& ids) override {
    auto request = make_abi<plumb_encode_request>();
    request.text = to_abi(text);
    auto result = make_abi<plumb_encode_result>();
    result.ids = ids.data();
    result.capacity = ids.size();
    return table_->encode(self_, &request, &result, nullptr) == PLUMB_OK ? result.n : 0;
  }

 private:
  static os::MappedFile open(const std::string& path) {
    auto file = os::MappedFile::open(path);
    if (!file) throw std::runtime_error(file.error().message);
    return *std::move(file);
  }

  os::MappedFile file_;
  plumb_metadata metadata_ = make_abi<plumb_metadata>();
  const plumb_tokenizer* table_ = nullptr;
  void* self_ = nullptr;
};

/// Chunks of kChunkBytes or up to three bytes less: no character is cut.
std::vector<std::string_view> chunks_of(std::string_view text) {
  std::vector<std::string_view> chunks;
  while (text.size() > kChunkBytes) {
    size_t end = kChunkBytes;
    while ((static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
    chunks.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return chunks;
}

/// Milliseconds from a tokenizer.json in the file cache to a tokenizer that can encode.
template <typename Open>
double load_milliseconds(const Open& open) {
  std::vector<double> times;
  for (int i = 0; i < kLoads; ++i) {
    const double begin = thread_seconds();
    const std::unique_ptr<Encoder> opened = open();
    times.push_back((thread_seconds() - begin) * 1e3);
  }
  return median(times);
}

/// How many of a corpus's words a cache as the plugin's finds, by the words of GPT-4o.
void print_found_words(const std::string& corpus, std::string_view text) {
  using Cache = decltype(tokenizer::WordMemory::short_words);
  Cache cache;
  const int32_t id = 0;
  size_t n_words = 0, n_short = 0, n_found = 0;
  for (const std::string_view chunk : chunks_of(text)) {
    tokenizers::hf::WordCursor cursor(tokenizers::hf::Pattern::kO200k, chunk);
    for (size_t begin = 0, end = 0; cursor.next(&begin, &end); ++n_words) {
      const std::string_view word = chunk.substr(begin, end - begin);
      if (!Cache::fits(word)) continue;
      ++n_short;
      const Cache::Key key(word, chunk.size() - begin);
      if (cache.find(key) != nullptr) {
        ++n_found;
      } else {
        cache.store(key, {&id, 1});
      }
    }
  }
  std::printf(
      "%-12s %-8s  %.1f MiB, %zu words, %.1f %% short enough for the cache, of these %.1f %% "
      "found\n",
      "words", corpus.c_str(), static_cast<double>(text.size()) / (1 << 20), n_words,
      100.0 * static_cast<double>(n_short) / static_cast<double>(n_words),
      100.0 * static_cast<double>(n_found) / static_cast<double>(n_short));
}

struct Named {
  std::string name;
  std::unique_ptr<Encoder> encoder;
  std::vector<double> speeds;  // MB/s of each block
};

/// One pass over a corpus; the encoders take turns block by block.
void compare(const std::string& model, const std::string& corpus, std::string_view text,
             std::vector<Named>& all) {
  const std::vector<std::string_view> chunks = chunks_of(text);
  std::vector<std::vector<int32_t>> ids(all.size(), std::vector<int32_t>(3 * kChunkBytes + 8));
  size_t n_differ = 0;
  for (Named& one : all) one.speeds.clear();
  for (size_t first = 0, block = 0; first + kBlockChunks <= chunks.size();
       first += kBlockChunks, ++block) {
    for (size_t turn = 0; turn < all.size(); ++turn) {
      const size_t at = (turn + block) % all.size();
      size_t n_bytes = 0;
      const auto begin = thread_seconds();
      for (size_t i = first; i < first + kBlockChunks; ++i) {
        all[at].encoder->encode(chunks[i], ids[at]);
        n_bytes += chunks[i].size();
      }
      all[at].speeds.push_back(static_cast<double>(n_bytes) / 1e6 / (thread_seconds() - begin));
    }
    const std::string_view last = chunks[first + kBlockChunks - 1];
    std::vector<size_t> counts(all.size());
    for (size_t at = 0; at < all.size(); ++at) counts[at] = all[at].encoder->encode(last, ids[at]);
    for (size_t at = 1; at < all.size(); ++at) {
      n_differ += counts[at] != counts[0] ||
                  !std::equal(ids[0].begin(), ids[0].begin() + static_cast<int64_t>(counts[0]),
                              ids[at].begin());
    }
  }
  std::printf("%-12s %-8s", model.c_str(), corpus.c_str());
  for (const Named& one : all) {
    std::vector<double> ratios;
    for (size_t i = 0; i < one.speeds.size(); ++i)
      ratios.push_back(all[0].speeds[i] / one.speeds[i]);
    std::printf("  %s %.1f MB/s", one.name.c_str(), median(one.speeds));
    if (&one != &all[0]) std::printf(" (x %.1f)", median(ratios));
  }
  std::printf("  chunks with other ids: %zu\n", n_differ);
  std::fflush(stdout);
}

}  // namespace
}  // namespace plumbline

int main(int argc, char** argv) {
  using namespace plumbline;
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s LIBRIVALS.so CORPORA MIB MODEL=tokenizer.json...\n", argv[0]);
    return 2;
  }
  try {
    HostOptions options;
    options.paths = {PLUMB_BUILD_PLUGIN_DIR};
    options.search_environment = options.search_user = options.search_install = false;
    auto host = Host::create(options);
    if (!host) throw std::runtime_error(host.error().message);
    const Rivals rivals(argv[1]);
    const size_t most_bytes = std::stoul(argv[3]) << 20;
    const auto corpus_text = [&](const char* corpus) {
      return read_file(std::string(argv[2]) + "/" + corpus + ".txt").substr(0, most_bytes);
    };
    for (const char* corpus : {"english", "code", "cjk"})
      print_found_words(corpus, corpus_text(corpus));
    for (int i = 4; i < argc; ++i) {
      const std::string_view argument = argv[i];
      const size_t equals = argument.find('=');
      const std::string model(argument.substr(0, equals)), path(argument.substr(equals + 1));
      const double ours_ms = load_milliseconds([&] { return std::make_unique<Ours>(*host, path); });
      const double theirs_ms = load_milliseconds([&] { return rivals.open("tokenizers", path); });
      std::printf("%-12s load     plumb %.1f ms  tokenizers %.1f ms (x %.1f)\n", model.c_str(),
                  ours_ms, theirs_ms, theirs_ms / ours_ms);
      std::vector<Named> all;
      all.push_back({"plumb", std::make_unique<Ours>(*host, path), {}});
      all.push_back({"tokenizers", rivals.open("tokenizers", path), {}});
      if (model == "gpt4o") {
        all.push_back({"tiktoken-rs", rivals.open("tiktoken-rs", ""), {}});
        all.push_back({"bpe-openai", rivals.open("bpe-openai", ""), {}});
      }
      for (const char* corpus : {"english", "code", "cjk"}) {
        compare(model, corpus, corpus_text(corpus), all);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
