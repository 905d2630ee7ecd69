// section.h: the tokenizer section of an .slm file, checked and taken apart.
//
// All numbers are little-endian u32. Both kinds start with
//   magic, version = 1, vocabulary size, ids of BOS, EOS, PAD, UNK
// and BTOK ends there. BPE1 goes on with the numbers of tokens and merges, then
//   tokens  {id, number of bytes, bytes}
//   merges  {left id, right id, joined id, rank}
// Ids 0 to 255 are the bytes themselves, those from 260 on are declared by the token records.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::tokenizers::slm {

constexpr uint32_t kFirstDeclared = 260;

struct Token {
  uint32_t id;
  std::string_view bytes;  // inside the section
};

struct MergeRule {
  uint32_t left;
  uint32_t right;
  uint32_t joined;
  uint32_t rank;
};

struct Section {
  uint32_t n_vocab = 0;
  uint32_t bos = 0;
  uint32_t eos = 0;
  uint32_t padding = 0;
  uint32_t unknown = 0;
  std::vector<Token> tokens;
  std::vector<MergeRule> merges;
};

/// Whether the bytes begin as such a section does.
bool has_magic(std::string_view bytes);

/// Fails CORRUPT: what was seen at which byte, and what was expected.
Result<Section> read_section(std::string_view bytes);

}  // namespace plumbline::tokenizers::slm
