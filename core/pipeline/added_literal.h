// added_literal.h: tokens that stand for a literal, which was added to the vocabulary.
#pragma once

#include "plumb/ext/tokenizer.h"

namespace plumbline::pipeline {

/// Of their attributes at least one.
inline constexpr uint32_t kAddedLiteral =
    PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN | PLUMB_TOKEN_USER_DEFINED;

}  // namespace plumbline::pipeline
