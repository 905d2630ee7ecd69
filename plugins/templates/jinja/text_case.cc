#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "text.h"

namespace plumbline::templates::jinja::text {
namespace {

/// A code point whose mapping is longer than one code point.
struct FullMapping {
  char32_t from;
  char32_t to[4];  // zero-terminated
};

// Source: Unicode SpecialCasing.txt, the unconditional mappings, sorted by code point.
constexpr FullMapping kUpper[] = {
    {0x00DF, {0x0053, 0x0053}},         {0x0149, {0x02BC, 0x004E}},
    {0x01F0, {0x004A, 0x030C}},         {0x0390, {0x0399, 0x0308, 0x0301}},
    {0x03B0, {0x03A5, 0x0308, 0x0301}}, {0x0587, {0x0535, 0x0552}},
    {0x1E96, {0x0048, 0x0331}},         {0x1E97, {0x0054, 0x0308}},
    {0x1E98, {0x0057, 0x030A}},         {0x1E99, {0x0059, 0x030A}},
    {0x1E9A, {0x0041, 0x02BE}},         {0x1F50, {0x03A5, 0x0313}},
    {0x1F52, {0x03A5, 0x0313, 0x0300}}, {0x1F54, {0x03A5, 0x0313, 0x0301}},
    {0x1F56, {0x03A5, 0x0313, 0x0342}}, {0x1F80, {0x1F08, 0x0399}},
    {0x1F81, {0x1F09, 0x0399}},         {0x1F82, {0x1F0A, 0x0399}},
    {0x1F83, {0x1F0B, 0x0399}},         {0x1F84, {0x1F0C, 0x0399}},
    {0x1F85, {0x1F0D, 0x0399}},         {0x1F86, {0x1F0E, 0x0399}},
    {0x1F87, {0x1F0F, 0x0399}},         {0x1F88, {0x1F08, 0x0399}},
    {0x1F89, {0x1F09, 0x0399}},         {0x1F8A, {0x1F0A, 0x0399}},
    {0x1F8B, {0x1F0B, 0x0399}},         {0x1F8C, {0x1F0C, 0x0399}},
    {0x1F8D, {0x1F0D, 0x0399}},         {0x1F8E, {0x1F0E, 0x0399}},
    {0x1F8F, {0x1F0F, 0x0399}},         {0x1F90, {0x1F28, 0x0399}},
    {0x1F91, {0x1F29, 0x0399}},         {0x1F92, {0x1F2A, 0x0399}},
    {0x1F93, {0x1F2B, 0x0399}},         {0x1F94, {0x1F2C, 0x0399}},
    {0x1F95, {0x1F2D, 0x0399}},         {0x1F96, {0x1F2E, 0x0399}},
    {0x1F97, {0x1F2F, 0x0399}},         {0x1F98, {0x1F28, 0x0399}},
    {0x1F99, {0x1F29, 0x0399}},         {0x1F9A, {0x1F2A, 0x0399}},
    {0x1F9B, {0x1F2B, 0x0399}},         {0x1F9C, {0x1F2C, 0x0399}},
    {0x1F9D, {0x1F2D, 0x0399}},         {0x1F9E, {0x1F2E, 0x0399}},
    {0x1F9F, {0x1F2F, 0x0399}},         {0x1FA0, {0x1F68, 0x0399}},
    {0x1FA1, {0x1F69, 0x0399}},         {0x1FA2, {0x1F6A, 0x0399}},
    {0x1FA3, {0x1F6B, 0x0399}},         {0x1FA4, {0x1F6C, 0x0399}},
    {0x1FA5, {0x1F6D, 0x0399}},         {0x1FA6, {0x1F6E, 0x0399}},
    {0x1FA7, {0x1F6F, 0x0399}},         {0x1FA8, {0x1F68, 0x0399}},
    {0x1FA9, {0x1F69, 0x0399}},         {0x1FAA, {0x1F6A, 0x0399}},
    {0x1FAB, {0x1F6B, 0x0399}},         {0x1FAC, {0x1F6C, 0x0399}},
    {0x1FAD, {0x1F6D, 0x0399}},         {0x1FAE, {0x1F6E, 0x0399}},
    {0x1FAF, {0x1F6F, 0x0399}},         {0x1FB2, {0x1FBA, 0x0399}},
    {0x1FB3, {0x0391, 0x0399}},         {0x1FB4, {0x0386, 0x0399}},
    {0x1FB6, {0x0391, 0x0342}},         {0x1FB7, {0x0391, 0x0342, 0x0399}},
    {0x1FBC, {0x0391, 0x0399}},         {0x1FC2, {0x1FCA, 0x0399}},
    {0x1FC3, {0x0397, 0x0399}},         {0x1FC4, {0x0389, 0x0399}},
    {0x1FC6, {0x0397, 0x0342}},         {0x1FC7, {0x0397, 0x0342, 0x0399}},
    {0x1FCC, {0x0397, 0x0399}},         {0x1FD2, {0x0399, 0x0308, 0x0300}},
    {0x1FD3, {0x0399, 0x0308, 0x0301}}, {0x1FD6, {0x0399, 0x0342}},
    {0x1FD7, {0x0399, 0x0308, 0x0342}}, {0x1FE2, {0x03A5, 0x0308, 0x0300}},
    {0x1FE3, {0x03A5, 0x0308, 0x0301}}, {0x1FE4, {0x03A1, 0x0313}},
    {0x1FE6, {0x03A5, 0x0342}},         {0x1FE7, {0x03A5, 0x0308, 0x0342}},
    {0x1FF2, {0x1FFA, 0x0399}},         {0x1FF3, {0x03A9, 0x0399}},
    {0x1FF4, {0x038F, 0x0399}},         {0x1FF6, {0x03A9, 0x0342}},
    {0x1FF7, {0x03A9, 0x0342, 0x0399}}, {0x1FFC, {0x03A9, 0x0399}},
    {0xFB00, {0x0046, 0x0046}},         {0xFB01, {0x0046, 0x0049}},
    {0xFB02, {0x0046, 0x004C}},         {0xFB03, {0x0046, 0x0046, 0x0049}},
    {0xFB04, {0x0046, 0x0046, 0x004C}}, {0xFB05, {0x0053, 0x0054}},
    {0xFB06, {0x0053, 0x0054}},         {0xFB13, {0x0544, 0x0546}},
    {0xFB14, {0x0544, 0x0535}},         {0xFB15, {0x0544, 0x053B}},
    {0xFB16, {0x054E, 0x0546}},         {0xFB17, {0x0544, 0x053D}},
};

constexpr FullMapping kTitle[] = {
    {0x00DF, {0x0053, 0x0073}},         {0x0149, {0x02BC, 0x004E}},
    {0x01F0, {0x004A, 0x030C}},         {0x0390, {0x0399, 0x0308, 0x0301}},
    {0x03B0, {0x03A5, 0x0308, 0x0301}}, {0x0587, {0x0535, 0x0582}},
    {0x1E96, {0x0048, 0x0331}},         {0x1E97, {0x0054, 0x0308}},
    {0x1E98, {0x0057, 0x030A}},         {0x1E99, {0x0059, 0x030A}},
    {0x1E9A, {0x0041, 0x02BE}},         {0x1F50, {0x03A5, 0x0313}},
    {0x1F52, {0x03A5, 0x0313, 0x0300}}, {0x1F54, {0x03A5, 0x0313, 0x0301}},
    {0x1F56, {0x03A5, 0x0313, 0x0342}}, {0x1FB2, {0x1FBA, 0x0345}},
    {0x1FB4, {0x0386, 0x0345}},         {0x1FB6, {0x0391, 0x0342}},
    {0x1FB7, {0x0391, 0x0342, 0x0345}}, {0x1FC2, {0x1FCA, 0x0345}},
    {0x1FC4, {0x0389, 0x0345}},         {0x1FC6, {0x0397, 0x0342}},
    {0x1FC7, {0x0397, 0x0342, 0x0345}}, {0x1FD2, {0x0399, 0x0308, 0x0300}},
    {0x1FD3, {0x0399, 0x0308, 0x0301}}, {0x1FD6, {0x0399, 0x0342}},
    {0x1FD7, {0x0399, 0x0308, 0x0342}}, {0x1FE2, {0x03A5, 0x0308, 0x0300}},
    {0x1FE3, {0x03A5, 0x0308, 0x0301}}, {0x1FE4, {0x03A1, 0x0313}},
    {0x1FE6, {0x03A5, 0x0342}},         {0x1FE7, {0x03A5, 0x0308, 0x0342}},
    {0x1FF2, {0x1FFA, 0x0345}},         {0x1FF4, {0x038F, 0x0345}},
    {0x1FF6, {0x03A9, 0x0342}},         {0x1FF7, {0x03A9, 0x0342, 0x0345}},
    {0xFB00, {0x0046, 0x0066}},         {0xFB01, {0x0046, 0x0069}},
    {0xFB02, {0x0046, 0x006C}},         {0xFB03, {0x0046, 0x0066, 0x0069}},
    {0xFB04, {0x0046, 0x0066, 0x006C}}, {0xFB05, {0x0053, 0x0074}},
    {0xFB06, {0x0053, 0x0074}},         {0xFB13, {0x0544, 0x0576}},
    {0xFB14, {0x0544, 0x0565}},         {0xFB15, {0x0544, 0x056B}},
    {0xFB16, {0x054E, 0x0576}},         {0xFB17, {0x0544, 0x056D}},
};

bool append_full(std::string& out, const FullMapping* first, const FullMapping* last,
                 char32_t point) {
  const auto* found = std::lower_bound(
      first, last, point, [](const FullMapping& m, char32_t wanted) { return m.from < wanted; });
  if (found == last || found->from != point) return false;
  for (const char32_t* p = found->to; *p != 0; ++p) append_point(out, *p);
  return true;
}

void append_upper(std::string& out, char32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point >= 'a' && point <= 'z' ? point - 32 : point);
  } else if (!append_full(out, std::begin(kUpper), std::end(kUpper), point)) {
    append_point(out,
                 static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(point))));
  }
}

void append_title(std::string& out, char32_t point) {
  if (point < 0x80) {
    append_upper(out, point);
  } else if (!append_full(out, std::begin(kTitle), std::end(kTitle), point)) {
    append_point(out,
                 static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(point))));
  }
}

bool is_cased(char32_t point) {
  return is_upper(point) || is_lower(point) || is_title(point);
}

/// Code points that the rule for the final sigma looks through (Unicode's Case_Ignorable).
bool is_case_ignorable(char32_t point) {
  switch (point) {
    case '\'':
    case '.':
    case ':':
    case '^':
    case '`':
    case 0xB7:
    case 0x2018:
    case 0x2019:
    case 0x2024:
    case 0x2027:
      return true;
    default:
      break;
  }
  const auto c = utf8proc_category(static_cast<utf8proc_int32_t>(point));
  return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_ME || c == UTF8PROC_CATEGORY_CF ||
         c == UTF8PROC_CATEGORY_LM || c == UTF8PROC_CATEGORY_SK;
}

/// Is the sigma that ends at `after` the last letter of a word? `cased_before` is what stands
/// before it.
bool is_final_sigma(std::string_view s, std::size_t after, bool cased_before) {
  if (!cased_before) return false;
  while (after < s.size()) {
    const char32_t point = next_point(s, after);
    if (!is_case_ignorable(point)) return !is_cased(point);
  }
  return true;
}

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kCapitalDottedI = 0x130;

/// Lower-cases one code point; `at` is the offset after it.
void append_lower(std::string& out, std::string_view s, std::size_t at, char32_t point,
                  bool cased_before) {
  if (point < 0x80) {
    out += static_cast<char>(point >= 'A' && point <= 'Z' ? point + 32 : point);
  } else if (point == kCapitalSigma) {
    append_point(out, is_final_sigma(s, at, cased_before) ? 0x3C2 : 0x3C3);
  } else if (point == kCapitalDottedI) {  // the only lower case of two code points
    out += "i\u0307";
  } else {
    append_point(out,
                 static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))));
  }
}

/// Walks over `s` and lets `append(point, offset after it, is a cased letter before it?)` write
/// each part.
template <typename Append>
void map_points(std::string_view s, Append append) {
  bool cased_before = false;
  for (std::size_t at = 0; at < s.size();) {
    const char32_t point = next_point(s, at);
    append(point, at, cased_before);
    if (!is_case_ignorable(point)) cased_before = is_cased(point);
  }
}

}  // namespace

std::string upper(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t at = 0; at < s.size();) append_upper(out, next_point(s, at));
  return out;
}

std::string lower(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  map_points(s, [&](char32_t point, std::size_t at, bool cased_before) {
    append_lower(out, s, at, point, cased_before);
  });
  return out;
}

std::string casefold(std::string_view s) {
  std::string out;
  for (std::size_t at = 0; at < s.size();) {
    const auto point = static_cast<utf8proc_int32_t>(next_point(s, at));
    utf8proc_int32_t folded[4] = {};  // the longest full folding has three code points
    const auto n = utf8proc_decompose_char(point, folded, 4, UTF8PROC_CASEFOLD, nullptr);
    for (utf8proc_ssize_t i = 0; i < std::min<utf8proc_ssize_t>(n, 4); ++i)
      append_point(out, static_cast<char32_t>(folded[i]));
  }
  return out;
}

std::string title(std::string_view s) {
  std::string out;
  bool in_word = false;
  map_points(s, [&](char32_t point, std::size_t at, bool cased_before) {
    if (in_word) {
      append_lower(out, s, at, point, cased_before);
    } else {
      append_title(out, point);
    }
    in_word = is_cased(point);
  });
  return out;
}

std::string capitalize(std::string_view s) {
  std::string out;
  bool first = true;
  map_points(s, [&](char32_t point, std::size_t at, bool cased_before) {
    if (first) {
      append_title(out, point);
    } else {
      append_lower(out, s, at, point, cased_before);
    }
    first = false;
  });
  return out;
}

std::string swap_case(std::string_view s) {
  std::string out;
  map_points(s, [&](char32_t point, std::size_t at, bool cased_before) {
    if (is_upper(point)) {
      append_lower(out, s, at, point, cased_before);
    } else if (is_lower(point)) {
      append_upper(out, point);
    } else {
      append_point(out, point);
    }
  });
  return out;
}

}  // namespace plumbline::templates::jinja::text
