// byte_alphabet.h: the printable characters that byte-level vocabularies write bytes with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plumbline::tokenizers::hf {

/// The character that stands for a byte, in UTF-8.
/// Source  GPT-2, encoder.py, bytes_to_unicode: printable Latin-1 stands for itself, the other 68
/// bytes are
///         U+0100 onwards in order.
std::string_view character_of(uint8_t byte);

/// Appends the bytes that a token text stands for. False, and `out` as it was, if a character is
/// outside the alphabet.
bool append_bytes_of(std::string_view token, std::string& out);

}  // namespace plumbline::tokenizers::hf
