// prompt_maker.h: a transcript -> the ids of its prompt, made to fit the context.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/conversation/history_ids.h"
#include "core/conversation/span_cache.h"
#include "core/conversation/transcript.h"
#include "core/pipeline/diagnostics.h"
#include "core/pipeline/pipeline.h"

namespace plumbline::conversation {

/// Rows of the context.
struct Budget {
  uint32_t capacity_rows = 0;
  /// Kept free for the answer, whatever else has to go.
  uint32_t reserve_rows = 0;
  /// Where messages must go, so many go that the prompt has at most these rows, so that the next
  /// turns need not evict.
  uint32_t evict_to_rows = 0;
  bool evicts = false;  // else what does not fit is refused

  uint32_t prompt_rows() const { return capacity_rows - std::min(reserve_rows, capacity_rows); }
};

struct Evicted {
  Range messages;  // as they were numbered before
  uint32_t n_groups = 0;
  uint32_t n_tokens = 0;
};

struct FittedPrompt {
  PromptIds prompt;
  Evicted evicted;
};

class PromptMaker {
 public:
  /// The pipeline must outlive it. Fails as its tokenizer and its template do.
  static Result<PromptMaker> create(pipeline::Pipeline& pipeline, HistoryIds history_ids);

  /// Variables of the template beside the messages: tools, documents, ...
  OrderedJson variables = OrderedJson::object();

  /// stage: null, or told what is being done.
  Result<PromptIds> make(const Transcript& transcript, const pipeline::RenderRequest& request,
                         pipeline::Diagnostics* stage = nullptr);
  /// Drops the oldest groups of the transcript until its prompt fits: the system message stays, and
  /// so does the last group. Fails INVALID_ARGUMENT: what stays does not fit, or may not be made
  /// to; the transcript is then as it was.
  Result<FittedPrompt> make_fit(Transcript& transcript, const pipeline::RenderRequest& request,
                                const Budget& budget, pipeline::Diagnostics* stage = nullptr);

  const SpanCache& cache() const { return cache_; }

 private:
  PromptMaker(pipeline::Pipeline& pipeline, const pipeline::Tokenizer& tokenizer,
              std::span<const uint64_t> control_bits, HistoryIds history_ids)
      : pipeline_(&pipeline),
        tokenizer_(&tokenizer),
        history_ids_(history_ids),
        cache_(tokenizer, control_bits) {}

  pipeline::Pipeline* pipeline_;
  const pipeline::Tokenizer* tokenizer_;
  HistoryIds history_ids_;
  SpanCache cache_;
};

}  // namespace plumbline::conversation
