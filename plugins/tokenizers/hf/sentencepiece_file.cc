#include "sentencepiece_file.h"

#include <bit>
#include <string>

namespace plumbline::tokenizers::hf {
namespace {

using File = SentencePieceFile;

/// One field of a message. `number` holds a varint or four bytes, `bytes` what has a length.
struct Field {
  uint64_t id = 0;
  uint32_t wire = 0;
  size_t begin = 0;  ///< where in the file it stands
  uint64_t number = 0;
  std::string_view bytes = {};
};

constexpr uint32_t kVarint = 0;
constexpr uint32_t kEightBytes = 1;
constexpr uint32_t kLength = 2;
constexpr uint32_t kFourBytes = 5;

Error broken(size_t at, const std::string& what) {
  return Error{PLUMB_CORRUPT, "byte " + std::to_string(at) + ": " + what};
}

/// The fields of one message, which lies at `begin` of the file.
/// Format  a varint `id << 3 | wire type`, then the value. Source  protobuf.dev, "Encoding".
class Message {
 public:
  Message(std::string_view bytes, size_t begin) : bytes_(bytes), begin_(begin) {}

  bool is_at_end() const { return at_ == bytes_.size(); }

  Result<Field> next() {
    Field field;
    field.begin = begin_ + at_;
    PLUMB_ASSIGN(const uint64_t tag, varint());
    field.id = tag >> 3;
    field.wire = static_cast<uint32_t>(tag & 7);
    if (field.id == 0) return broken(field.begin, "a field without a number");
    switch (field.wire) {
      case kVarint: {
        PLUMB_ASSIGN(field.number, varint());
        return field;
      }
      case kFourBytes: {
        PLUMB_ASSIGN(field.bytes, take(4));
        for (size_t i = 4; i-- > 0;)
          field.number = field.number << 8 | static_cast<uint8_t>(field.bytes[i]);
        return field;
      }
      case kEightBytes: {
        PLUMB_ASSIGN(field.bytes, take(8));
        return field;
      }
      case kLength: {
        PLUMB_ASSIGN(const uint64_t n_bytes, varint());
        PLUMB_ASSIGN(field.bytes, take(n_bytes));
        return field;
      }
      default:
        return broken(field.begin,
                      "wire type " + std::to_string(field.wire) + ", 0, 1, 2 or 5 expected");
    }
  }

  /// The message that a field holds.
  Message inner(const Field& field) const {
    return {field.bytes, begin_ + static_cast<size_t>(field.bytes.data() - bytes_.data())};
  }

 private:
  Result<uint64_t> varint() {
    const size_t begin = at_;
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      if (is_at_end()) return broken(begin_ + begin, "a number that does not end");
      const uint8_t byte = static_cast<uint8_t>(bytes_[at_++]);
      value |= static_cast<uint64_t>(byte & 0x7Fu) << shift;
      if (byte < 0x80) return value;
    }
    return broken(begin_ + begin, "a number of more than ten bytes");
  }

  Result<std::string_view> take(uint64_t n_bytes) {
    if (n_bytes > bytes_.size() - at_) {
      return broken(begin_ + at_, std::to_string(n_bytes) + " bytes expected, " +
                                      std::to_string(bytes_.size() - at_) + " left");
    }
    const std::string_view taken = bytes_.substr(at_, static_cast<size_t>(n_bytes));
    at_ += taken.size();
    return taken;
  }

  std::string_view bytes_;
  size_t begin_;
  size_t at_ = 0;
};

/// Fails if a known field does not have its wire type.
Result<void> expect(const Field& field, uint32_t wire) {
  if (field.wire == wire) return {};
  return broken(field.begin, "field " + std::to_string(field.id) + " has wire type " +
                                 std::to_string(field.wire) + ", " + std::to_string(wire) +
                                 " expected");
}

Result<void> read(const Field& field, std::string_view& out) {
  PLUMB_TRY(expect(field, kLength));
  out = field.bytes;
  return {};
}

Result<void> read(const Field& field, uint64_t& out) {
  PLUMB_TRY(expect(field, kVarint));
  out = field.number;
  return {};
}

Result<void> read(const Field& field, bool& out) {
  PLUMB_TRY(expect(field, kVarint));
  out = field.number != 0;
  return {};
}

Result<void> read(const Field& field, float& out) {
  PLUMB_TRY(expect(field, kFourBytes));
  out = std::bit_cast<float>(static_cast<uint32_t>(field.number));
  return {};
}

Result<void> read(const Field& field, File::Kind& out) {
  PLUMB_TRY(expect(field, kVarint));
  if (field.number < 1 || field.number > 6)
    return broken(field.begin, "a piece of type " + std::to_string(field.number));
  out = static_cast<File::Kind>(field.number);
  return {};
}

/// Calls read_field(field) for every field of a message.
template <typename ReadField>
Result<void> for_each_field(Message message, const ReadField& read_field) {
  while (!message.is_at_end()) {
    PLUMB_ASSIGN(const Field field, message.next());
    PLUMB_TRY(read_field(field));
  }
  return {};
}

Result<File::Piece> read_piece(const Message& message) {
  File::Piece piece;
  PLUMB_TRY(for_each_field(message, [&](const Field& field) -> Result<void> {
    switch (field.id) {
      case 1:
        return read(field, piece.text);
      case 2:
        return read(field, piece.score);
      case 3:
        return read(field, piece.kind);
      default:
        return {};
    }
  }));
  return piece;
}

Result<void> read_trainer(const Message& message, File& file) {
  return for_each_field(message, [&](const Field& field) -> Result<void> {
    switch (field.id) {
      case 3:
        return read(field, file.model_type);
      case 24:
        return read(field, file.treat_whitespace_as_suffix);
      case 35:
        return read(field, file.byte_fallback);
      case 44:
        return read(field, file.unknown_surface);
      case 46:
        return read(field, file.bos_piece);
      case 47:
        return read(field, file.eos_piece);
      case 48:
        return read(field, file.padding_piece);
      default:
        return {};
    }
  });
}

Result<void> read_normalizer(const Message& message, File::Normalizer& normalizer) {
  return for_each_field(message, [&](const Field& field) -> Result<void> {
    switch (field.id) {
      case 2:
        return read(field, normalizer.charsmap);
      case 3:
        return read(field, normalizer.add_dummy_prefix);
      case 4:
        return read(field, normalizer.remove_extra_whitespaces);
      case 5:
        return read(field, normalizer.escape_whitespaces);
      default:
        return {};
    }
  });
}

/// A field of the whole file.
Result<void> read_part(const Message& whole, const Field& field, File& file) {
  if (field.id < 1 || field.id > 5 || field.id == 4) return {};
  PLUMB_TRY(expect(field, kLength));
  const Message inner = whole.inner(field);
  switch (field.id) {
    case 1: {
      PLUMB_ASSIGN(const File::Piece piece, read_piece(inner));
      file.pieces.push_back(piece);
      return {};
    }
    case 2:
      return read_trainer(inner, file);
    case 3:
      return read_normalizer(inner, file.normalizer);
    default:
      return read_normalizer(inner, file.denormalizer);
  }
}

}  // namespace

Result<SentencePieceFile> read_sentencepiece_file(std::string_view bytes) {
  File file;
  const Message whole(bytes, 0);
  PLUMB_TRY(
      for_each_field(whole, [&](const Field& field) { return read_part(whole, field, file); }));
  return file;
}

}  // namespace plumbline::tokenizers::hf
