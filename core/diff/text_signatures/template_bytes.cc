#include <algorithm>
#include <cctype>

#include "core/diff/text_signatures/json_values.h"
#include "core/diff/text_signatures/templates.h"

namespace plumbline::diff {
namespace {

using pipeline::FinalTurn;
using pipeline::OrderedJson;

/// Where two texts differ: what is left between their longest common beginning and end.
struct Difference {
  size_t begin = 0;
  std::string_view a, b;
};

Difference difference(std::string_view a, std::string_view b) {
  const size_t n_most = std::min(a.size(), b.size());
  size_t n_front = 0;
  while (n_front < n_most && a[n_front] == b[n_front]) ++n_front;
  size_t n_back = 0;
  while (n_back < n_most - n_front && a[a.size() - 1 - n_back] == b[b.size() - 1 - n_back])
    ++n_back;
  return {n_front, a.substr(n_front, a.size() - n_back - n_front),
          b.substr(n_front, b.size() - n_back - n_front)};
}

bool has_system(const OrderedJson& conversation) {
  return std::ranges::any_of(messages_of(conversation), [](const OrderedJson& message) {
    return text_at(message, "role") == "system";
  });
}

std::string bos_of(const Conversation& conversation, const std::string& own) {
  return text_at(conversation.messages, "bos_token", own);
}

/// The words that A gives the system where a conversation does not: what stands where the words of
/// another system would. Empty if A gives none.
std::string default_system(const TemplateEvidence& evidence) {
  constexpr std::string_view kWords = "plumb-probe-system";
  Conversation without = evidence.conversation;
  OrderedJson& messages = messages_of(without.messages);
  const auto turn = [](const char* role, std::string_view words) {
    return OrderedJson::object({{"role", role}, {"content", words}});
  };
  messages = OrderedJson::array();
  messages.push_back(turn("user", "plumb-probe-user"));
  Conversation with = without;
  OrderedJson& longer = messages_of(with.messages);
  longer.insert(longer.begin(), turn("system", kWords));
  const auto plain = evidence.a(without);
  const auto named = evidence.a(with);
  if (!plain || !named) return {};
  const size_t at = named->find(kWords);
  if (at == std::string::npos || named->rfind(kWords) != at) return {};
  const std::string_view behind = std::string_view(*named).substr(at + kWords.size());
  const bool is_framed = plain->size() > at + behind.size() && plain->ends_with(behind) &&
                         plain->compare(0, at, *named, 0, at) == 0;
  return is_framed ? plain->substr(at, plain->size() - at - behind.size()) : std::string();
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

std::string word_at(const std::string& text, size_t at) {
  size_t begin = std::min(at, text.size());
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  size_t end = std::min(at, text.size());
  while (end < text.size() && is_letter(text[end])) ++end;
  return text.substr(begin, end - begin);
}

bool is_role(std::string word) {
  constexpr std::string_view kRoles[] = {"system", "user",  "assistant", "tool",
                                         "model",  "human", "developer", "ipython"};
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kRoles, word) != std::end(kRoles);
}

// A text with a word exchanged where it is no part of a sentence. In a template's source, the word
// alone in quotes is what a role is compared with.
std::string renamed(std::string_view text, std::string_view ours, std::string_view theirs,
                    bool is_source) {
  constexpr std::string_view kSentence = " .,;!?";
  constexpr std::string_view kQuotes = "'\"";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at + ours.size();
    const char before = at > 0 ? text[at - 1] : '\0';
    const char behind = end < text.size() ? text[end] : '\0';
    const bool is_word = text.substr(at).starts_with(ours) && !is_letter(before) &&
                         !is_letter(behind) && kSentence.find(behind) == kSentence.npos;
    const bool is_alone =
        is_source && kQuotes.find(before) != kQuotes.npos && kQuotes.find(behind) != kQuotes.npos;
    const bool is_name = is_word && !is_alone;
    out.append(is_name ? theirs : text.substr(at, 1));
    at = is_name ? end : at + 1;
  }
  return out;
}

// What the messages say is left alone.
std::string renamed_outside(const Conversation& conversation, std::string_view bytes,
                            std::string_view ours, std::string_view theirs) {
  std::string out;
  size_t at = 0;
  for (const OrderedJson& message : messages_of(conversation.messages)) {
    const std::string said = text_at(message, "content");
    const size_t found = said.empty() ? std::string::npos : bytes.find(said, at);
    if (found == std::string::npos) continue;
    out += renamed(bytes.substr(at, found - at), ours, theirs, false);
    out += said;
    at = found + said.size();
  }
  return out + renamed(bytes.substr(at), ours, theirs, false);
}

class ByteHypotheses {
 public:
  ByteHypotheses(const TemplateEvidence& evidence, TemplateHypotheses& out)
      : evidence_(evidence), out_(out) {}

  using Change = std::function<std::string(const Conversation&, std::string)>;
  void add(const char* signature, std::string statement, Change change) {
    out_.push_back({signature, std::move(statement), [a = evidence_.a, change = std::move(change)] {
                      return Result<TemplateSide>(
                          [a, change](const Conversation& conversation) -> Result<std::string> {
                            PLUMB_ASSIGN(std::string bytes, a(conversation));
                            return change(conversation, std::move(bytes));
                          });
                    }});
  }

  void add_all(const std::string& a, const std::string& b) {
    add_ends();
    add_bos();
    add_generation_prompt();
    const Difference parts = difference(a, b);
    add_system(a, parts);
    add_date(a, b);
    add_role(parts, a, b);
  }

 private:
  void add_ends() {
    add("trailing_newline_lost", "B's prompt lacks the line feed at the end of A's",
        [](const Conversation& conversation, std::string bytes) {
          if (!goes_on(conversation) && bytes.ends_with('\n')) bytes.pop_back();
          return bytes;
        });
    add("trailing_newline_added", "B's prompt has a line feed more at its end",
        [](const Conversation& conversation, std::string bytes) {
          return goes_on(conversation) ? bytes : bytes + "\n";
        });
  }

  void add_bos() {
    const std::string own = evidence_.bos;
    add("template_bos_missing", "B's template does not write the beginning-of-sequence token",
        [own](const Conversation& conversation, std::string bytes) {
          const std::string bos = bos_of(conversation, own);
          const size_t at = bos.empty() ? std::string::npos : bytes.find(bos);
          if (at != std::string::npos) bytes.erase(at, bos.size());
          return bytes;
        });
    add("template_bos_doubled", "B's template writes the beginning-of-sequence token once more",
        [own](const Conversation& conversation, const std::string& bytes) {
          return bos_of(conversation, own) + bytes;
        });
  }

  void add_generation_prompt() {
    out_.push_back(
        {"generation_prompt_doubled", "B opens the assistant's turn twice", [a = evidence_.a] {
           return Result<TemplateSide>(
               [a](const Conversation& conversation) -> Result<std::string> {
                 PLUMB_ASSIGN(const std::string open, a(conversation));
                 Conversation closed = conversation;
                 if (closed.messages.is_object()) {
                   closed.messages.erase("add_generation_prompt");
                   closed.messages.erase("continue_final_message");
                 }
                 closed.request.final_turn = FinalTurn::kClosed;
                 PLUMB_ASSIGN(const std::string shut, a(closed));
                 return open.starts_with(shut) ? open + open.substr(shut.size()) : open;
               });
         }});
  }

  // A's own system message, or more of its turn, is gone in B or, the other way round, is B's.
  void add_system(const std::string& a, const Difference& parts) {
    if (has_system(evidence_.conversation.messages)) return;
    const std::string words = default_system(evidence_);
    const auto is_part = [](std::string_view whole, std::string_view part) {
      return whole.find(part) != std::string_view::npos;
    };
    if (parts.b.empty() && !words.empty() && (is_part(parts.a, words) || is_part(words, parts.a))) {
      add("default_system_missing", "B does not write A's own system message",
          [block = std::string(parts.a)](const Conversation& conversation, std::string bytes) {
            const size_t at = bytes.find(block);
            if (!has_system(conversation.messages) && at != std::string::npos)
              bytes.erase(at, block.size());
            return bytes;
          });
    }
    constexpr size_t kWordsLeast = 8;
    if (parts.a.empty() && parts.b.size() >= kWordsLeast && parts.begin < a.size()) {
      add("default_system_added", "B writes a system message of its own: " + std::string(parts.b),
          [at = parts.begin, block = std::string(parts.b)](const Conversation& conversation,
                                                           std::string bytes) {
            if (!has_system(conversation.messages)) bytes.insert(std::min(at, bytes.size()), block);
            return bytes;
          });
    }
  }

  // What of A's bytes depends on the clock. A year and some days later every field differs.
  void add_date(const std::string& a, const std::string& b) {
    constexpr int64_t kOtherwise = 60 * 60 * 24 * (365 * 4 + 43) + 60 * 61;
    Conversation later = evidence_.conversation;
    later.request.now_unix_s += kOtherwise;
    const auto other = evidence_.a(later);
    if (!other || *other == a) return;
    const Difference clock = difference(a, *other);
    size_t begin = clock.begin;
    size_t end = begin + clock.a.size();
    // Digits and letters that both dates share belong to them.
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    while (begin > 0 && is_word(a[begin - 1])) --begin;
    while (end < a.size() && is_word(a[end])) ++end;
    const std::string_view behind = std::string_view(a).substr(end);
    if (b.size() < begin + behind.size() || !b.ends_with(behind) ||
        b.compare(0, begin, a, 0, begin) != 0)
      return;
    const std::string ours = a.substr(begin, end - begin);
    const std::string theirs = b.substr(begin, b.size() - behind.size() - begin);
    if (ours == theirs) return;
    add("date_differs", "B writes the date as " + theirs + ", A as " + ours,
        [ours, theirs](const Conversation&, std::string bytes) {
          for (size_t at = 0; (at = bytes.find(ours, at)) != std::string::npos; at += theirs.size())
            bytes.replace(at, ours.size(), theirs);
          return bytes;
        });
  }

  // The name of a role that B writes otherwise: everywhere, or where A's template spells it.
  void add_role(const Difference& parts, const std::string& a, const std::string& b) {
    const std::string ours = word_at(a, parts.begin);
    const std::string theirs = word_at(b, parts.begin);
    if (!is_role(ours) || theirs.empty() || ours == theirs) return;
    const std::string statement = "B names the role " + theirs + ", A " + ours;
    add("role_renamed", statement,
        [ours, theirs](const Conversation& conversation, const std::string& bytes) {
          return renamed_outside(conversation, bytes, ours, theirs);
        });
    out_.push_back({"role_renamed", statement,
                    [changed = evidence_.changed_a,
                     source = renamed(evidence_.template_a, ours, theirs, /*is_source=*/true)] {
                      return changed({.template_text = source});
                    }});
  }

  const TemplateEvidence& evidence_;
  TemplateHypotheses& out_;
};

}  // namespace

void add_byte_hypotheses(const TemplateEvidence& evidence, const std::string& first_a,
                         const std::string& first_b, TemplateHypotheses& out) {
  ByteHypotheses(evidence, out).add_all(first_a, first_b);
}

}  // namespace plumbline::diff
