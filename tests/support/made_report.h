// made_report.h: reports made by hand, for tests of what is written from them: everything that a
// report can say, with texts that try to break out.
#pragma once

#include <string>

#include "core/diff/report.h"

namespace plumbline::test {

/// What a stranger's prompt may hold: ends of elements, quotes, controls, text that runs the other
/// way, and bytes that are no UTF-8.
inline const std::string kHostileText =
    "</script><script>document.title='broken out'</script><img src=x onerror=alert(1)>"
    "\" ' & ]]> --> `${1}` \\u003c \x01\x1b[2J\x7f\n\t \xE2\x80\xAE"
    "gnp.exe \xE2\x80\xA8 \xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xff\xfe\xc0\xaf \xF0\x9F\x91\xA9"
    "\xE2\x80\x8D\xF0\x9F\x9A\x80";

/// A kernel that pairs RoPE's values the other way from layer n_layers / 2 on: four prompts, of
/// every verdict but MATCH, 30 layers of 17 ops.
diff::Report made_report();
/// Nothing differs.
diff::Report made_match();

}  // namespace plumbline::test
