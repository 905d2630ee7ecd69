// logit_errors.h: door 30: two rows of logits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/diff/report.h"
#include "core/pipeline/tokenizer.h"

namespace plumbline::diff {

/// a and b have the same size. All but position, step, noise, verdict and pieces.
LogitErrors compare_logits(std::span<const float> a, std::span<const float> b);

/// noise: of gap_change; 0: equal bits are demanded; empty: no level is known. row_noise: of
/// row_change; empty: the rest of the row is not judged.
void judge(LogitErrors& errors, std::optional<double> noise,
           std::optional<double> row_noise = std::nullopt);

/// The gaps of the first ids are within their noise, those of the rest of the row are not.
bool rest_decides(const LogitErrors& errors);

/// Standard deviation of a row, in double precision.
double sigma_of(std::span<const float> row);

/// The change from A to B of the gap between two ids, in sigma of A's row.
double gap_change(std::span<const float> a, std::span<const float> b, int32_t one, int32_t other);

/// The gap between two ids, in sigma of the row.
double gap(std::span<const float> row, int32_t one, int32_t other);

/// log softmax of one id, in nats.
double log_probability(std::span<const float> logits, int32_t id);

/// The bytes of the ids in top, where the tokenizer has them.
void add_pieces(LogitErrors& errors, const pipeline::Tokenizer& tokenizer);

}  // namespace plumbline::diff
