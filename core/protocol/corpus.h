// corpus.h: texts for tokenizers, perhaps with the ids that another program made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::protocol {

struct CorpusText {
  std::string text = {};  // bytes, perhaps no UTF-8
  bool parses_special = true;  // literals of control tokens become their ids
  std::optional<std::vector<int32_t>> ids = {};  // the reference's
};

struct Corpus {
  std::string name;  // a file
  std::vector<CorpusText> texts;
};

/// A JSON object a line: "text" or "bytes_hex"; "special": "parse" or "off"; "ids": as in
/// golden/tokenizers. Fails CORRUPT: which line, and how.
Result<Corpus> parse_corpus(std::string_view lines, const std::string& name);

}  // namespace plumbline::protocol
