// delivery.h: the one place through which an answer's text leaves, and what of it has arrived.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/config/pipeline_config.h"
#include "core/conversation/gate.h"
#include "core/pipeline/text_stream.h"

namespace plumbline::conversation {

/// Text of a request that was cancelled is dropped here, whoever still produces it.
class Delivery {
 public:
  using Sink = std::function<void(std::string_view text)>;
  Delivery(const Gate::Pass& pass, const Sink& sink) : pass_(pass), sink_(sink) {}

  void operator()(std::string_view text);
  /// What the sink took: it has returned.
  const std::string& delivered() const { return delivered_; }
  bool has_dropped() const { return has_dropped_; }

 private:
  const Gate::Pass& pass_;
  const Sink& sink_;
  std::string delivered_;
  bool has_dropped_ = false;
};

struct DeliveredIds {
  size_t n_ids = 0;
  std::string text;
};

/// The ids of an answer up to the last one whose text was delivered wholly, and their text. Ids
/// without a text of their own behind it were not delivered.
Result<DeliveredIds> delivered_ids(const pipeline::Tokenizer& tokenizer,
                                   std::span<const int32_t> ids, config::IllFormed ill_formed,
                                   std::string_view delivered);

}  // namespace plumbline::conversation
