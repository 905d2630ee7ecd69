// error_codes.h: what went wrong as a number that stays: of a stage and a status.
// core/doc/diagnostics.md
#pragma once

#include <cstdint>
#include <string_view>

#include "plumb/base.h"

namespace plumbline::pipeline {

/// The numbers of the WebAssembly ABI of TinyRustLM, 0 to 14, and those that were added to them.
enum class ErrorCode : uint32_t {
  kOk = 0,
  kNullPointer = 1,
  kInvalidLength = 2,
  kInvalidUtf8 = 3,
  kInvalidModelMagic = 4,
  kUnsupportedModelVersion = 5,
  kInvalidHeader = 6,
  kInvalidTensorDirectory = 7,
  kMissingTensor = 8,
  kShapeMismatch = 9,
  kUnsupportedDType = 10,
  kContextExceeded = 11,
  kModelNotLoaded = 12,
  kGenerationFailed = 13,
  kOutputBufferExceeded = 14,
  kCancelled = 15,
  kBusy = 16,
  kTemplateError = 17,
  kTransferCeilingExceeded = 18,
  kChecksumMismatch = 19,
  kUnsupportedCombination = 20,
};
inline constexpr uint32_t kErrorCodes = 21;

/// "InvalidUtf8".
std::string_view error_name(ErrorCode code);
/// One sentence for each code, the same for ever; empty for kOk.
std::string_view stable_message(ErrorCode code);

/// How far loading came.
enum class LoadStatus {
  kIdle,
  kTransferCeilingExceeded,
  kHeaderRejected,
  kChecksumMismatch,
  kDirectoryRejected,
  kTokenizerRejected,
  kTensorRejected,
  kScratchAllocationFailed,
  kKvAllocationFailed,
  kKvAllocationSuccess,
};
/// "KV_ALLOCATION_SUCCESS".
std::string_view load_status_name(LoadStatus status);

/// What a transaction is doing, in order; kPlugins again once the prompt's ids are there, for the
/// parts that an answer needs.
enum class Stage {
  kConfig,
  kPlugins,
  kModelSource,  // finding the model's file and what it must hash to
  kModelHeader,  // opening it
  kTokenizer,
  kTemplate,
  kPrompt,  // text to ids
  kWeights,  // preparing them, and the caches
  kGeneration,
};

/// What a failure of a stage with this status is called.
struct FailureKind {
  ErrorCode code = ErrorCode::kOk;
  LoadStatus load_status = LoadStatus::kIdle;
};
/// loaded: the load status before the failure, which stays where the failure is not of loading.
FailureKind failure_kind(Stage stage, plumb_status status, LoadStatus loaded);

}  // namespace plumbline::pipeline
