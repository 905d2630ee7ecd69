// reference_decode.h: ids to text in one go, as the tokenizers library decodes.
#pragma once

#include <string>
#include <vector>

#include "plumb/sdk/utf8.h"
#include "tests/support/tokenizer_instance.h"

namespace plumbline::test {

/// Runs of byte tokens as a whole where the tokenizer asks for it, else by maximal subparts.
inline std::string reference_decode(const TokenizerInstance& tokenizer,
                                    const std::vector<int32_t>& ids, bool skips_special) {
  const bool has_runs = tokenizer.info().ill_formed == PLUMB_ILL_FORMED_BYTE_RUN;
  std::string run, text;
  bool is_first = true;
  const auto end_run = [&] {
    if (utf8::is_well_formed(run)) {
      text += run;
    } else {
      for (size_t i = 0; i < run.size(); ++i) utf8::append(text, utf8::kReplacement);
    }
    run.clear();
  };
  for (const int32_t id : ids) {
    if (skips_special && (tokenizer.attributes(id) & PLUMB_TOKEN_CONTROL) != 0) continue;
    const std::string piece = tokenizer.piece(id, is_first);
    is_first = false;
    if (has_runs && (tokenizer.attributes(id) & PLUMB_TOKEN_BYTE) != 0) {
      run += piece;
      continue;
    }
    end_run();
    text += piece;
  }
  end_run();
  return has_runs ? text : utf8::to_lossy(text);
}

}  // namespace plumbline::test
