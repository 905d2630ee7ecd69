#include <chrono>
#include <cstdio>

#include "builtins.h"

namespace plumbline::templates::jinja {
namespace {

constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};

struct Moment {
  int year;
  int month;  // 1..12
  int day;  // 1..31
  int week_day;  // 0 = Sunday
  int year_day;  // 1..366
  int hour;
  int minute;
  int second;
};

Moment moment_of(std::int64_t unix_s) {
  using std::chrono::days;
  using std::chrono::seconds;
  using std::chrono::sys_days;
  const std::chrono::sys_seconds time{seconds(unix_s)};
  const sys_days day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const auto of_day = static_cast<int>((time - day).count());
  const sys_days new_year = date.year() / std::chrono::January / 1;
  return {static_cast<int>(date.year()),
          static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day())),
          static_cast<int>(std::chrono::weekday(day).c_encoding()),
          static_cast<int>((day - new_year).count()) + 1,
          of_day / 3600,
          of_day / 60 % 60,
          of_day % 60};
}

/// A number in `width` places, filled up with `fill`; '-' as fill: no padding.
std::string padded(int value, std::size_t width, char fill = '0') {
  std::string digits = std::to_string(value);
  if (fill != '-' && digits.size() < width) digits.insert(0, width - digits.size(), fill);
  return digits;
}

/// Week of the year for %U (first = Sunday, 0) and %W (first = Monday, 1).
int week(const Moment& m, int first) {
  return (m.year_day + 6 - (m.week_day - first + 7) % 7) / 7;
}

std::string expand(const Moment& m, std::int64_t unix_s, std::string_view format);

/// One directive; nothing for an unknown one. `flag` is glibc's: '-' no padding, '_' blanks, '0',
/// '^', or 0.
bool append_directive(std::string& out, const Moment& m, std::int64_t unix_s, char directive,
                      char flag) {
  const auto number = [&](int value, std::size_t width, char fill = '0') {
    out += padded(value, width, flag == '-' ? '-' : flag == '_' ? ' ' : flag == '0' ? '0' : fill);
    return true;
  };
  const auto word = [&](std::string_view name) {
    out += flag == '^' ? text::upper(name) : std::string(name);
    return true;
  };
  const auto composed = [&](std::string_view format) {
    out += expand(m, unix_s, format);
    return true;
  };
  const std::string_view day_name = kDays[static_cast<std::size_t>(m.week_day)];
  const std::string_view month_name = kMonths[static_cast<std::size_t>(m.month - 1)];
  const int hour12 = m.hour % 12 == 0 ? 12 : m.hour % 12;
  switch (directive) {
    case 'a':
      return word(day_name.substr(0, 3));
    case 'A':
      return word(day_name);
    case 'b':
    case 'h':
      return word(month_name.substr(0, 3));
    case 'B':
      return word(month_name);
    case 'c':
      return composed("%a %b %e %H:%M:%S %Y");
    case 'C':
      return number(m.year / 100, 2);
    case 'd':
      return number(m.day, 2);
    case 'D':
    case 'x':
      return composed("%m/%d/%y");
    case 'e':
      return number(m.day, 2, ' ');
    case 'f':
      out += "000000";
      return true;  // the clock has whole seconds
    case 'F':
      return composed("%Y-%m-%d");
    case 'H':
      return number(m.hour, 2);
    case 'I':
      return number(hour12, 2);
    case 'j':
      return number(m.year_day, 3);
    case 'k':
      return number(m.hour, 2, ' ');
    case 'l':
      return number(hour12, 2, ' ');
    case 'm':
      return number(m.month, 2);
    case 'M':
      return number(m.minute, 2);
    case 'n':
      out += '\n';
      return true;
    case 'p':
      return word(m.hour < 12 ? "AM" : "PM");
    case 'P':
      return word(m.hour < 12 ? "am" : "pm");
    case 'r':
      return composed("%I:%M:%S %p");
    case 'R':
      return composed("%H:%M");
    case 's':
      out += std::to_string(unix_s);
      return true;
    case 'S':
      return number(m.second, 2);
    case 't':
      out += '\t';
      return true;
    case 'T':
    case 'X':
      return composed("%H:%M:%S");
    case 'u':
      return number(m.week_day == 0 ? 7 : m.week_day, 1);
    case 'U':
      return number(week(m, 0), 2);
    case 'w':
      return number(m.week_day, 1);
    case 'W':
      return number(week(m, 1), 2);
    case 'y':
      return number(m.year % 100, 2);
    case 'Y':
      return number(m.year, 1);
    case 'z':
    case 'Z':
      return true;  // Python's now() has no time zone
    case '%':
      out += '%';
      return true;
    default:
      return false;
  }
}

std::string expand(const Moment& m, std::int64_t unix_s, std::string_view format) {
  std::string out;
  for (std::size_t at = 0; at < format.size();) {
    const std::size_t percent = format.find('%', at);
    out += format.substr(at, percent == std::string_view::npos ? percent : percent - at);
    if (percent == std::string_view::npos) break;
    std::size_t end = percent + 1;
    char flag = 0;
    if (end < format.size() &&
        std::string_view("-_0^").find(format[end]) != std::string_view::npos) {
      flag = format[end++];
    }
    if (end >= format.size() || !append_directive(out, m, unix_s, format[end], flag)) {
      out += format.substr(percent, end + 1 - percent);  // an unknown directive stays, as in glibc
    }
    at = std::min(end + 1, format.size());
  }
  return out;
}

}  // namespace

Value format_time(Runtime& rt, std::int64_t unix_s, std::string_view format) {
  constexpr std::int64_t kYear1 = -62135596800;  // the range of Python's datetime
  constexpr std::int64_t kYear9999 = 253402300799;
  if (unix_s < kYear1 || unix_s > kYear9999) {
    return rt.fail(ErrorKind::type, "strftime_now: the clock shows " + std::to_string(unix_s) +
                                        " s, a time in the years 1 to 9999 expected");
  }
  if (!rt.spend_bytes(format.size() * 16)) return Value();
  return rt.string(expand(moment_of(unix_s), unix_s, format));
}

}  // namespace plumbline::templates::jinja
