// SPDX-License-Identifier: Apache-2.0
#include "charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "host/tool/page/svg.hpp"
#include "report.hpp"

namespace tidemill::soak {

using page::Frame;
using page::round_step;
using page::Svg;
using page::thousands;
std::string bar_chart(const std::vector<NamedCount>& rows, const std::string& title) {
  constexpr double kWidth = 440, kRow = 26, kNames = 104, kNumbers = 132, kBars = kWidth - kNames - kNumbers;
  uint64_t most = 1, all = 0;
  for (const NamedCount& row : rows) {
    most = std::max(most, row.count);
    all += row.count;
  }
  Svg svg(kWidth, kRow * static_cast<double>(std::max<size_t>(rows.size(), 1)), title);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double y = kRow * static_cast<double>(i), length = share_of(rows[i].count, most) * kBars;
    const std::string numbers = fmt::format("{} · {}", grouped(rows[i].count), percent(share_of(rows[i].count, all)));
    svg.text(kNames - 8, y + 17, "name end", rows[i].name);
    if (rows[i].count != 0) svg.bar(kNames, y + 5, std::max(length, 1.5), kRow - 10, rows[i].style, rows[i].name + ": " + numbers);
    svg.text(kNames + length + 8, y + 17, "number", numbers);
  }
  return svg.take();
}

std::string histogram_chart(const Histogram& below, const Histogram& above, const std::string& title) {
  unsigned first = Histogram::kClasses, end = 0;
  uint64_t most = 1;
  for (unsigned i = 0; i < Histogram::kClasses; ++i) {
    const uint64_t count = below.count(i) + above.count(i);
    most = std::max(most, count);
    if (count == 0) continue;
    first = std::min(first, i);
    end = i + 1;
  }
  const Frame frame(static_cast<double>(most));
  Svg svg(Frame::kWidth, Frame::kHeight, title);
  frame.draw(svg, "ticks from post to completion (a tick is 1.024 us)");
  for (unsigned i = first; i < end; ++i) {
    const double columns = end - first, left = Frame::x((i - first) / columns), width = Frame::x(1 / columns) - Frame::x(0);
    const auto low = static_cast<double>(below.count(i)), high = static_cast<double>(below.count(i) + above.count(i));
    const std::string span = class_name(i) + " ticks: ";
    if (low > 0) svg.bar(left + 1, frame.y(low), width - 2, frame.y(0) - frame.y(low), "success", span + grouped(below.count(i)) + " answered");
    if (high > low) svg.bar(left + 1, frame.y(high), width - 2, std::max(frame.y(low) - frame.y(high), 0.8), "timeout", span + grouped(above.count(i)) + " not answered");
    if ((i - first) % 2 == 0) svg.text(left + width / 2, Frame::kHeight - Frame::kBottom + 16, "tick middle", std::to_string(Histogram::first(i)));
  }
  return svg.take();
}

std::string series_chart(const Series& series, uint32_t until, const std::string& title) {
  const auto& points = series.points();
  const size_t count = std::clamp<size_t>(until / series.interval() + 1, 1, std::max<size_t>(points.size(), 1));
  uint32_t most = 1;
  for (size_t i = 0; i < count && i < points.size(); ++i) most = std::max(most, points[i]);
  const Frame frame(most);
  Svg svg(Frame::kWidth, Frame::kHeight, title);
  frame.draw(svg, "tick");
  std::string curve = fmt::format("{:.1f},{:.1f}", Frame::x(0), frame.y(0));
  for (size_t i = 0; i < count && i < points.size(); ++i) {
    const auto share = static_cast<double>(i) / static_cast<double>(std::max<size_t>(count - 1, 1));
    curve += fmt::format(" {:.1f},{:.1f}", Frame::x(share), frame.y(points[i]));
  }
  curve += fmt::format(" {:.1f},{:.1f}", Frame::x(count > 1 ? 1 : 0), frame.y(0));
  svg.add(R"(<polygon points="{}" class="area"><title>at most {} outstanding</title></polygon>)", curve, grouped(most));
  const double last = static_cast<double>(count - 1) * series.interval();
  const double step = round_step(last, 6);
  for (double tick = 0; last > 0 && tick <= last; tick += step)
    svg.text(Frame::x(tick / last), Frame::kHeight - Frame::kBottom + 16, "tick middle", thousands(tick));
  return svg.take();
}

}  // namespace tidemill::soak
