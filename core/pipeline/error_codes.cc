#include "core/pipeline/error_codes.h"

#include <iterator>
#include <optional>

namespace plumbline::pipeline {
namespace {

struct CodeText {
  std::string_view name;
  std::string_view message;
};

constexpr CodeText kTexts[] = {
    {"Ok", ""},
    {"NullPointer", "a pointer is null"},
    {"InvalidLength", "a length is zero or too large"},
    {"InvalidUtf8", "the input is no well-formed text"},
    {"InvalidModelMagic", "no loader knows the model's file, or its version"},
    {"UnsupportedModelVersion", "the model's file is of a version that is not supported"},
    {"InvalidHeader", "the model's header is damaged"},
    {"InvalidTensorDirectory", "the model's tensors are not those that its header promises"},
    {"MissingTensor", "a tensor of the model is missing"},
    {"ShapeMismatch", "a tensor of the model has another shape than its header says"},
    {"UnsupportedDType", "the model needs a format or an operation that is not supported"},
    {"ContextExceeded", "the prompt, or what it needs, does not fit into the context"},
    {"ModelNotLoaded", "there is no model"},
    {"GenerationFailed", "the answer could not be generated"},
    {"OutputBufferExceeded", "the result is larger than the place for it"},
    {"Cancelled", "the request was cancelled"},
    {"Busy", "another request is being answered"},
    {"TemplateError", "the chat template does not take these messages"},
    {"TransferCeilingExceeded", "the model is larger than what may be transferred"},
    {"ChecksumMismatch", "the model's file is not the one that was expected"},
    {"UnsupportedCombination", "the config's parts do not go together"},
};
static_assert(std::size(kTexts) == kErrorCodes);

// The statuses of a stage; the first row that fits counts.
struct Row {
  Stage stage;
  std::optional<plumb_status> status;  // empty: any other
  ErrorCode code;
  std::optional<LoadStatus> load_status;  // empty: it stays what it was
};

using enum ErrorCode;

constexpr Row kRows[] = {
    {Stage::kConfig, {}, kUnsupportedCombination, {}},
    {Stage::kPlugins, {}, kUnsupportedCombination, {}},
    {Stage::kModelSource, PLUMB_CORRUPT, kChecksumMismatch, LoadStatus::kChecksumMismatch},
    {Stage::kModelSource, {}, kModelNotLoaded, {}},
    {Stage::kModelHeader, PLUMB_NOT_FOUND, kModelNotLoaded, {}},
    {Stage::kModelHeader, PLUMB_UNSUPPORTED, kInvalidModelMagic, LoadStatus::kHeaderRejected},
    {Stage::kModelHeader, PLUMB_INCOMPATIBLE, kUnsupportedCombination, {}},
    {Stage::kModelHeader, PLUMB_INVALID_ARGUMENT, kUnsupportedCombination, {}},
    {Stage::kModelHeader, {}, kInvalidHeader, LoadStatus::kHeaderRejected},
    {Stage::kTokenizer, PLUMB_CORRUPT, kInvalidHeader, LoadStatus::kTokenizerRejected},
    {Stage::kTokenizer, {}, kUnsupportedCombination, LoadStatus::kTokenizerRejected},
    {Stage::kTemplate, {}, kTemplateError, {}},
    {Stage::kPrompt, PLUMB_INVALID_ARGUMENT, kInvalidUtf8, {}},
    {Stage::kPrompt, {}, kGenerationFailed, {}},
    // The decoder's own arguments are right: only a budget for its caches is refused.
    {Stage::kWeights, PLUMB_INVALID_ARGUMENT, kContextExceeded, LoadStatus::kKvAllocationFailed},
    {Stage::kWeights, PLUMB_INVALID_CONFIG, kUnsupportedCombination, {}},
    // The backend's plugin is found here.
    {Stage::kWeights, PLUMB_NOT_FOUND, kUnsupportedCombination, {}},
    {Stage::kWeights, PLUMB_INCOMPATIBLE, kUnsupportedCombination, {}},
    {Stage::kWeights, PLUMB_CORRUPT, kInvalidTensorDirectory, LoadStatus::kDirectoryRejected},
    {Stage::kWeights, PLUMB_UNSUPPORTED, kUnsupportedDType, LoadStatus::kTensorRejected},
    {Stage::kWeights, PLUMB_NUMERIC, kInvalidTensorDirectory, LoadStatus::kTensorRejected},
    {Stage::kWeights, {}, kGenerationFailed, LoadStatus::kScratchAllocationFailed},
    {Stage::kGeneration, PLUMB_INVALID_ARGUMENT, kContextExceeded, {}},
    {Stage::kGeneration, PLUMB_INVALID_CONFIG, kUnsupportedCombination, {}},
    {Stage::kGeneration, {}, kGenerationFailed, {}},
};

}  // namespace

std::string_view error_name(ErrorCode code) {
  return kTexts[static_cast<uint32_t>(code)].name;
}

std::string_view stable_message(ErrorCode code) {
  return kTexts[static_cast<uint32_t>(code)].message;
}

std::string_view load_status_name(LoadStatus status) {
  switch (status) {
    case LoadStatus::kIdle:
      return "IDLE";
    case LoadStatus::kTransferCeilingExceeded:
      return "TRANSFER_CEILING_EXCEEDED";
    case LoadStatus::kHeaderRejected:
      return "HEADER_REJECTED";
    case LoadStatus::kChecksumMismatch:
      return "CHECKSUM_MISMATCH";
    case LoadStatus::kDirectoryRejected:
      return "DIRECTORY_REJECTED";
    case LoadStatus::kTokenizerRejected:
      return "TOKENIZER_REJECTED";
    case LoadStatus::kTensorRejected:
      return "TENSOR_REJECTED";
    case LoadStatus::kScratchAllocationFailed:
      return "SCRATCH_ALLOCATION_FAILED";
    case LoadStatus::kKvAllocationFailed:
      return "KV_ALLOCATION_FAILED";
    case LoadStatus::kKvAllocationSuccess:
      return "KV_ALLOCATION_SUCCESS";
  }
  return "";
}

FailureKind failure_kind(Stage stage, plumb_status status, LoadStatus loaded) {
  if (status == PLUMB_CANCELLED) return {kCancelled, loaded};
  for (const Row& row : kRows) {
    if (row.stage == stage && (!row.status || *row.status == status))
      return {row.code, row.load_status.value_or(loaded)};
  }
  return {kGenerationFailed, loaded};
}

}  // namespace plumbline::pipeline
