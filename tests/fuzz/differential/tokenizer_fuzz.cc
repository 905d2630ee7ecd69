// tokenizer_fuzz.cc: compares plumb.tokenizers.hf with the Rust library on tokenizer.json files.
//   build/release/tests/tokenizer_fuzz tokenizer.json... [--n 200000] [--seed 1] [--corpus
//   TEXT_FILE]
// One JSON line for each difference, its text minimised. Exit 0: none, 1: some, 2: usage, 4: a
// file.
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "campaign.h"

namespace {

namespace fs = std::filesystem;
using namespace plumbline::fuzz;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

uint64_t number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("a number expected, '" + std::string(text) + "' seen");
  return value;
}

struct Arguments {
  Campaign campaign;
  std::vector<std::string> files;
};

Arguments parse(std::vector<std::string> words) {
  Arguments out;
  std::string corpus = PLUMB_SOURCE_DIR "/golden/texts/study.txt";
  for (size_t i = 0; i < words.size(); ++i) {
    const bool is_option = words[i].starts_with("--");
    if (!is_option) {
      out.files.push_back(words[i]);
      continue;
    }
    if (i + 1 == words.size()) throw std::invalid_argument(words[i] + ": a value expected");
    const std::string& value = words[i + 1];
    if (words[i] == "--n") {
      out.campaign.n_texts = number(value);
    } else if (words[i] == "--seed") {
      out.campaign.seed = number(value);
    } else if (words[i] == "--corpus") {
      corpus = value;
    } else {
      throw std::invalid_argument("unknown option " + words[i]);
    }
    ++i;
  }
  if (out.files.empty()) throw std::invalid_argument("a tokenizer.json expected");
  out.campaign.corpus = read_text(corpus);
  return out;
}

/// Whether nothing differs.
bool run_file(const std::string& file, const Campaign& campaign) {
  const fs::path config = fs::path(file).replace_filename("tokenizer_config.json");
  const TokenizerPair pair(read_text(file), fs::exists(config) ? read_text(config) : "");
  const Findings findings = run(pair, campaign);
  for (nlohmann::json difference : findings.differences) {
    difference["file"] = file;
    std::puts(difference.dump().c_str());
  }
  std::fprintf(stderr, "%s: seed %llu, %llu texts of %llu bytes, %zu differences\n", file.c_str(),
               static_cast<unsigned long long>(campaign.seed),
               static_cast<unsigned long long>(findings.n_texts),
               static_cast<unsigned long long>(findings.n_bytes), findings.differences.size());
  return findings.differences.empty();
}

}  // namespace

int main(int n_words, char** words) {
  try {
    const Arguments arguments = parse({words + 1, words + n_words});
    bool is_equal = true;
    for (const std::string& file : arguments.files)
      is_equal = run_file(file, arguments.campaign) && is_equal;
    return is_equal ? 0 : 1;
  } catch (const std::invalid_argument& problem) {
    std::fprintf(stderr, "tokenizer_fuzz: %s\n", problem.what());
    return 2;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "tokenizer_fuzz: %s\n", problem.what());
    return 4;
  }
}
