#include "kinds.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace plumbline::tokenizers::hf {
namespace {

/// Characters of Unicode 15.1 and 16, and numbers of 17, which the tokenizers library (0.23, by
/// Oniguruma) knows and utf8proc 2.8 (Unicode 15) does not. In ascending order.
struct LaterRange {
  char32_t first;
  char32_t last;
  Kind kind;
};
constexpr LaterRange kLaterRanges[] = {
    {0x897, 0x897, kMark},         {0x1B4E, 0x1B4F, kSign},       {0x1B7F, 0x1B7F, kSign},
    {0x1C89, 0x1C89, kUpper},      {0x1C8A, 0x1C8A, kLower},      {0x2427, 0x2429, kSign},
    {0x2FFC, 0x2FFF, kSign},       {0x31E4, 0x31E5, kSign},       {0x31EF, 0x31EF, kSign},
    {0xA7CB, 0xA7CC, kUpper},      {0xA7CD, 0xA7CD, kLower},      {0xA7DA, 0xA7DA, kUpper},
    {0xA7DB, 0xA7DB, kLower},      {0xA7DC, 0xA7DC, kUpper},      {0x105C0, 0x105F3, kCaseless},
    {0x10D40, 0x10D49, kNumber},   {0x10D4A, 0x10D4F, kCaseless}, {0x10D50, 0x10D65, kUpper},
    {0x10D69, 0x10D6D, kMark},     {0x10D6E, 0x10D6E, kSign},     {0x10D6F, 0x10D6F, kCaseless},
    {0x10D70, 0x10D85, kLower},    {0x10D8E, 0x10D8F, kSign},     {0x10EC2, 0x10EC4, kCaseless},
    {0x10EFC, 0x10EFC, kMark},     {0x11380, 0x11389, kCaseless}, {0x1138B, 0x1138B, kCaseless},
    {0x1138E, 0x1138E, kCaseless}, {0x11390, 0x113B5, kCaseless}, {0x113B7, 0x113B7, kCaseless},
    {0x113B8, 0x113C0, kMark},     {0x113C2, 0x113C2, kMark},     {0x113C5, 0x113C5, kMark},
    {0x113C7, 0x113CA, kMark},     {0x113CC, 0x113D0, kMark},     {0x113D1, 0x113D1, kCaseless},
    {0x113D2, 0x113D2, kMark},     {0x113D3, 0x113D3, kCaseless}, {0x113D4, 0x113D5, kSign},
    {0x113D7, 0x113D8, kSign},     {0x113E1, 0x113E2, kMark},     {0x116D0, 0x116E3, kNumber},
    {0x11BC0, 0x11BE0, kCaseless}, {0x11BE1, 0x11BE1, kSign},     {0x11BF0, 0x11BF9, kNumber},
    {0x11F5A, 0x11F5A, kMark},     {0x13460, 0x143FA, kCaseless}, {0x16100, 0x1611D, kCaseless},
    {0x1611E, 0x1612F, kMark},     {0x16130, 0x16139, kNumber},   {0x16D40, 0x16D6C, kCaseless},
    {0x16D6D, 0x16D6F, kSign},     {0x16D70, 0x16D79, kNumber},   {0x18CFF, 0x18CFF, kCaseless},
    {0x1CC00, 0x1CCEF, kSign},     {0x1CCF0, 0x1CCF9, kNumber},   {0x1CD00, 0x1CEB3, kSign},
    {0x1E5D0, 0x1E5ED, kCaseless}, {0x1E5EE, 0x1E5EF, kMark},     {0x1E5F0, 0x1E5F0, kCaseless},
    {0x1E5F1, 0x1E5FA, kNumber},   {0x1E5FF, 0x1E5FF, kSign},     {0x1F8B2, 0x1F8BB, kSign},
    {0x1F8C0, 0x1F8C1, kSign},     {0x1FA89, 0x1FA89, kSign},     {0x1FA8F, 0x1FA8F, kSign},
    {0x1FABE, 0x1FABE, kSign},     {0x1FAC6, 0x1FAC6, kSign},     {0x1FADC, 0x1FADC, kSign},
    {0x1FADF, 0x1FADF, kSign},     {0x1FAE9, 0x1FAE9, kSign},     {0x1FBCB, 0x1FBEF, kSign},
    {0x2EBF0, 0x2EE5D, kCaseless},
};

uint8_t kind_of_unassigned(char32_t c) {
  const auto found =
      std::lower_bound(std::begin(kLaterRanges), std::end(kLaterRanges), c,
                       [](const LaterRange& range, char32_t point) { return range.last < point; });
  return found != std::end(kLaterRanges) && found->first <= c ? found->kind : 0;
}

}  // namespace

uint8_t kind_of(char32_t c) {
  if (c < kAsciiKinds.size()) return kAsciiKinds[c];
  if (c == 0x85) return kBlank;  // a control character that Unicode counts as white space
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return kUpper;
    case UTF8PROC_CATEGORY_LL:
      return kLower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kCaseless;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return kBlank;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return kSign;
    case UTF8PROC_CATEGORY_CN:
      return kind_of_unassigned(c);
    default:
      return 0;
  }
}

bool is_punctuation(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return true;
    default:
      return false;
  }
}

const BmpKinds& bmp_kinds() {
  static const BmpKinds kKinds = [] {
    BmpKinds kinds;
    for (uint32_t c = 0; c < kinds.size(); ++c) kinds[c] = kind_of(c);
    return kinds;
  }();
  return kKinds;
}

}  // namespace plumbline::tokenizers::hf
