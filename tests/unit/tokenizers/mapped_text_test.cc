#include <gtest/gtest.h>

#include "plumb/sdk/tokenizer/mapped_text.h"

namespace plumbline::tokenizer {
namespace {

void expect_span(plumb_span span, uint64_t begin, uint64_t end) {
  EXPECT_EQ(span.begin, begin);
  EXPECT_EQ(span.end, end);
}

TEST(MappedText, WellFormedTextIsTheSourceItself) {
  MappedText storage;
  const std::string source = "a\u00e9b";
  const MappedView view = repair(source, storage);
  EXPECT_EQ(view.text().data(), source.data());
  expect_span(view.part(1, 4).source(0, 2), 1, 3);
}

/// Oracle: utf8::to_lossy for the bytes; the origins are counted by hand.
TEST(MappedText, RepairedBytesKnowWhereTheyCameFrom) {
  MappedText storage;
  const std::string source =
      "a\xE4\xB8"
      "b\xFF";
  const MappedView view = repair(source, storage);
  EXPECT_EQ(view.text(), utf8::to_lossy(source));
  expect_span(view.source(0, 1), 0, 1);
  expect_span(view.source(1, 4), 1, 3);
  expect_span(view.source(2, 3), 1, 3);
  expect_span(view.source(4, 5), 3, 4);
  expect_span(view.source(0, 8), 0, 5);
  expect_span(view.part(4, 8).source(1, 4), 4, 5);
}

TEST(MappedText, IsCutShortAtItsLimit) {
  MappedText storage;
  storage.limit(3);
  storage.append("ab", {0, 2});
  storage.append("cd", {2, 4});
  storage.append("e", {4, 5});
  EXPECT_EQ(storage.view().text(), "ab") << "nothing follows what was left out";
  EXPECT_TRUE(storage.is_cut_short());
  storage.clear();
  storage.append(MappedView("abc"));
  EXPECT_EQ(storage.view().text(), "abc");
  EXPECT_FALSE(storage.is_cut_short());
  storage.append(MappedView("d"));
  EXPECT_TRUE(storage.is_cut_short());
}

}  // namespace
}  // namespace plumbline::tokenizer
