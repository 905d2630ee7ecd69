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

}  // namespace
}  // namespace plumbline::tokenizer
