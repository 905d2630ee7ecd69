// tokenize: text to ids and back.
#include <algorithm>
#include <memory>
#include <utility>

#include "core/cli/session.h"
#include "core/cli/turn_options.h"
#include "core/cli/verbs.h"
#include "core/pipeline/text_stream.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

struct TokenizeOptions {
  PipelineOptions pipeline;
  std::string from;
  std::string text;
  std::string special = "parse";
  bool jsonl = false;
  std::string threads = "auto";
  bool decode = false;
  bool add_special = false;
};

// Calls body(line number, line) for each line of stdin.
template <typename Body>
void for_each_line(const Body& body) {
  const std::string input = read_all("-");
  size_t number = 0;
  for (size_t at = 0; at < input.size();) {
    const size_t end = std::min(input.find('\n', at), input.size());
    ++number;
    if (end > at) body(number, std::string_view(input).substr(at, end - at));
    at = end + 1;
  }
}

OrderedJson parse_line(size_t number, std::string_view line, const char* key) {
  OrderedJson json = OrderedJson::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains(key)) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, "stdin line " + std::to_string(number) +
                                              ": expected a JSON object with the key " + key});
  }
  return json;
}

uint32_t special_of(const TokenizeOptions& options) {
  return options.special == "parse" ? PLUMB_SPECIAL_PARSE : PLUMB_SPECIAL_OFF;
}

std::string encoded_line(const TokenizeOptions& options, const pipeline::Tokenizer& tokenizer,
                         pipeline::Encoding& encoding) {
  if (options.add_special) pipeline::add_special(tokenizer.info(), encoding);
  return OrderedJson{{"ids", encoding.ids}, {"spans", shown(encoding.spans)}}.dump() + "\n";
}

/// Encodes and prints some lines at once, and forgets them.
class LineBatch {
 public:
  LineBatch(const TokenizeOptions& options, const pipeline::Tokenizer& tokenizer, ThreadPool& pool)
      : options_(options), tokenizer_(tokenizer), pool_(pool) {}

  void add(size_t number, std::string text) {
    n_bytes_ += text.size();
    numbers_.push_back(number);
    texts_.push_back(std::move(text));
    if (texts_.size() >= kMostLines || n_bytes_ >= kMostBytes) flush();
  }
  void flush() {
    const std::vector<std::string> texts = std::exchange(texts_, {});
    const std::vector<size_t> numbers = std::exchange(numbers_, {});
    n_bytes_ = 0;
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    auto encodings = tokenizer_.encode_batch(views, special_of(options_), pool_);
    if (!encodings) {
      for (size_t i = 0; i < views.size(); ++i) print_or_stop(numbers[i], views[i]);
      stop(kPlugin, std::move(encodings).error());  // of no line by itself
    }
    std::vector<std::string> lines(texts.size());
    pool_.run(static_cast<uint32_t>(lines.size()), [&](uint32_t, uint32_t at) {
      lines[at] = encoded_line(options_, tokenizer_, (*encodings)[at]);
    });
    for (const std::string& line : lines) print(line);
  }

 private:
  static constexpr size_t kMostLines = 4096;
  static constexpr size_t kMostBytes = 4 << 20;

  // The lines before a broken one are printed, and its own number is said.
  void print_or_stop(size_t number, std::string_view text) {
    auto encoding = tokenizer_.encode(text, special_of(options_));
    if (!encoding) {
      stop(kPlugin, std::move(encoding).error().at("stdin line " + std::to_string(number)));
    }
    print(encoded_line(options_, tokenizer_, *encoding));
  }

  const TokenizeOptions& options_;
  const pipeline::Tokenizer& tokenizer_;
  ThreadPool& pool_;
  std::vector<size_t> numbers_;
  std::vector<std::string> texts_;
  size_t n_bytes_ = 0;
};

std::string decode_line(const pipeline::Tokenizer& tokenizer, pipeline::IllFormed profile,
                        size_t number, const OrderedJson& json) {
  const OrderedJson& ids = json["ids"];
  const auto is_whole = [](const OrderedJson& id) { return id.is_number_integer(); };
  if (!ids.is_array() || !std::all_of(ids.begin(), ids.end(), is_whole)) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, "stdin line " + std::to_string(number) +
                                              ": ids: expected a list of whole numbers"});
  }
  std::vector<int32_t> numbers;
  for (const OrderedJson& id : ids) {
    const auto wide = id.get<int64_t>();
    numbers.push_back(wide < 0 || wide > INT32_MAX ? -1 : static_cast<int32_t>(wide));
  }
  const std::string bytes = value_or_stop(tokenizer.decode(numbers), kPlugin);
  OrderedJson line{
      {"text", value_or_stop(pipeline::decode_text(tokenizer, numbers, profile), kPlugin)}};
  if (!utf8::is_well_formed(bytes)) {
    std::string hex;
    for (const char byte : bytes) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
      hex += two;
    }
    line["bytes_hex"] = hex;
  }
  return line.dump() + "\n";
}

int tokenize(TokenizeOptions& options) {
  if (!options.from.empty()) {
    for (const char* key : {"model.source.path=", "tokenizer.path="})
      options.pipeline.overrides.push_back(key + options.from);
  }
  if (options.threads != "auto")
    options.pipeline.overrides.push_back("kernels.threads=" + options.threads);
  Session session(options.pipeline);
  const pipeline::Tokenizer& tokenizer = *part_or_stop(session.pipeline().tokenizer());
  if (options.decode) {
    const pipeline::IllFormed profile =
        pipeline::ill_formed(session.config().config.tokenizer.ill_formed, tokenizer.info());
    for_each_line([&](size_t number, std::string_view line) {
      print(decode_line(tokenizer, profile, number, parse_line(number, line, "ids")));
    });
  } else if (options.jsonl) {
    LineBatch batch(options, tokenizer, session.pipeline().threads());
    try {
      for_each_line([&](size_t number, std::string_view line) {
        const OrderedJson json = parse_line(number, line, "text");
        if (!json["text"].is_string()) {
          stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                        "stdin line " + std::to_string(number) + ": text: expected a string"});
        }
        batch.add(number, json["text"].get<std::string>());
      });
    } catch (const Failure&) {
      batch.flush();  // the lines before the broken one
      throw;
    }
    batch.flush();
  } else {
    if (options.text.empty()) options.text = read_all("-");
    pipeline::Encoding encoding =
        value_or_stop(tokenizer.encode(options.text, special_of(options)), kPlugin);
    print(encoded_line(options, tokenizer, encoding));
  }
  return kDone;
}

}  // namespace

void add_tokenize(CLI::App& app, int& exit) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App* verb =
      app.add_subcommand("tokenize", "Text to token ids with their byte spans, and back");
  options->pipeline.add_to(*verb);
  verb->add_option(
      "--from", options->from,
      "A file with a tokenizer instead of the config's: tokenizer.json, a SentencePiece "
      "model, a GGUF file, or a folder");
  verb->add_option("-p,--prompt", options->text, "The text; without it: stdin");
  verb->add_flag("--jsonl", options->jsonl,
                 "Lines {\"text\": ...} on stdin, lines {\"ids\", \"spans\"} on stdout");
  verb->add_option("--threads", options->threads,
                   "Threads that --jsonl encodes with; auto: as the config says")
      ->capture_default_str();
  verb->add_flag("--decode", options->decode,
                 "Lines {\"ids\": [...]} on stdin, lines {\"text\"} on stdout");
  verb->add_option("--special", options->special,
                   "Literals of control tokens: their ids (parse) or plain text (off)")
      ->check(CLI::IsMember({"parse", "off"}))
      ->capture_default_str();
  verb->add_flag("--add-special", options->add_special,
                 "With the ids that the vocabulary's post-processor puts around a text");
  verb->footer(
      "Examples:\n"
      "  plumb tokenize -p \"Hello world\"\n"
      "  plumb tokenize qwen2.5-coder --jsonl --threads 4 --special off < texts.jsonl\n"
      "  plumb tokenize --from tokenizer.json -p \"Hello world\"\n"
      "  echo '{\"ids\": [504, 3575]}' | plumb tokenize --decode");
  verb->callback([options, &exit] { exit = tokenize(*options); });
}

}  // namespace plumbline::cli
