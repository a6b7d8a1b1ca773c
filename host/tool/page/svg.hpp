// SPDX-License-Identifier: Apache-2.0
/// Drawing of charts as inline SVG. Colours and fonts come from the page's style sheet (page.hpp) by class name.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

namespace tidemill::page {

class Svg {
 public:
  Svg(double width, double height, const std::string& title) {
    add(R"(<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">)", width, height, title);
  }
  template <class... Parts>
  void add(fmt::format_string<Parts...> text, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<Parts>(parts)...);
  }
  void text(double x, double y, const char* style, const std::string& words) {
    add(R"(<text x="{:.1f}" y="{:.1f}" class="{}">{}</text>)", x, y, style, words);
  }
  void line(double x1, double y1, double x2, double y2, const char* style) {
    add(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>)", x1, y1, x2, y2, style);
  }
  /// A rectangle that says what it is when pointed at.
  void bar(double x, double y, double width, double height, const std::string& style, const std::string& words) {
    add(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="2" class="{}"><title>{}</title></rect>)", x, y, width,
        height, style, words);
  }
  std::string take() { return text_ + "</svg>"; }

 private:
  std::string text_;
};

/// A round step that divides `most` into about `parts`.
inline double round_step(double most, int parts) {
  const double raw = std::max(most, 1.0) / parts, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return std::max(1.0, factor * power);
  }
  return std::max(1.0, 10 * power);
}

inline std::string thousands(double value) {
  if (value >= 1e6) return fmt::format("{:g} M", value / 1e6);
  return value >= 1e4 ? fmt::format("{:g} k", value / 1e3) : fmt::format("{:g}", value);
}

/// Frame of a chart with a vertical scale.
struct Frame {
  static constexpr double kWidth = 900, kHeight = 260, kLeft = 56, kRight = 12, kTop = 14, kBottom = 44;
  double top_value;

  explicit Frame(double most) {
    const double step = round_step(most, 4);
    top_value = step * std::max(1.0, std::ceil(most / step));
  }
  double y(double value) const { return kHeight - kBottom - value / top_value * (kHeight - kBottom - kTop); }
  static double x(double share) { return kLeft + share * (kWidth - kLeft - kRight); }
  void draw(Svg& svg, const char* below) const {
    const double step = round_step(top_value, 4);
    for (int line = 0; line <= std::lround(top_value / step); ++line) {
      const double value = line * step;
      svg.line(kLeft, y(value), kWidth - kRight, y(value), value == 0 ? "axis" : "grid");
      svg.text(kLeft - 8, y(value) + 4, "tick end", thousands(value));
    }
    svg.text(x(0.5), kHeight - 4, "tick middle", below);
  }
};

}  // namespace tidemill::page
