// SPDX-License-Identifier: Apache-2.0
/// The page of a run: rates, latencies, queues, shares.
#include <algorithm>
#include <numeric>

#include "host/tool/page/page.hpp"
#include "host/tool/page/svg.hpp"
#include "run.hpp"

namespace tidemill::cosim_run {
namespace {

using nlohmann::json;
using page::Frame;
using page::Page;
using page::Svg;

std::string grouped(uint64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) text.insert(text.begin() + at, ',');
  return text;
}

void x_axis(Svg& svg, double last) {
  const double step = page::round_step(last, 6);
  for (double v = 0; last > 0 && v <= last; v += step)
    svg.text(Frame::x(v / last), Frame::kHeight - Frame::kBottom + 16, "tick middle", page::thousands(v));
}

/// A filled curve of values at equal steps, up to `last` at the right edge.
std::string curve(const std::vector<double>& values, double last, const char* below, const std::string& title) {
  const double most = values.empty() ? 1 : *std::max_element(values.begin(), values.end());
  const Frame frame(most);
  Svg svg(Frame::kWidth, Frame::kHeight, title);
  frame.draw(svg, below);
  std::string points = fmt::format("{:.1f},{:.1f}", Frame::x(0), frame.y(0));
  for (std::size_t i = 0; i < values.size(); ++i)
    points += fmt::format(" {:.1f},{:.1f}", Frame::x(static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(values.size() - 1, 1))), frame.y(values[i]));
  points += fmt::format(" {:.1f},{:.1f}", Frame::x(1), frame.y(0));
  svg.add(R"(<polygon points="{}" class="area"><title>{}, at most {:.1f}</title></polygon>)", points, title, most);
  x_axis(svg, last);
  return svg.take();
}

/// Columns of a histogram of cycles, from its first to its 99.9th percentile.
std::string histogram(const json& h, const std::string& title) {
  const auto bins = h.value("bins", std::vector<uint64_t>{});
  const uint64_t all = std::accumulate(bins.begin(), bins.end(), uint64_t{0});
  std::size_t first = 0, end = 0;
  uint64_t sum = 0;
  while (first < bins.size() && bins[first] == 0) ++first;
  for (end = first; end < bins.size() && sum < all - all / 1000; ++end) sum += bins[end];
  const std::size_t width = std::max<std::size_t>((end - first + 59) / 60, 1);
  std::vector<uint64_t> columns((end - first + width - 1) / width, 0);
  for (std::size_t i = first; i < end; ++i) columns[(i - first) / width] += bins[i];
  const Frame frame(columns.empty() ? 1.0 : static_cast<double>(*std::max_element(columns.begin(), columns.end())));
  Svg svg(Frame::kWidth, Frame::kHeight, title);
  frame.draw(svg, "cycles (4 ns)");
  const auto count = static_cast<double>(std::max<std::size_t>(columns.size(), 1));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double left = Frame::x(static_cast<double>(i) / count), w = Frame::x(1 / count) - Frame::x(0), high = static_cast<double>(columns[i]);
    svg.bar(left + 1, frame.y(high), std::max(w - 2, 1.0), frame.y(0) - frame.y(high), "success",
            fmt::format("{} to {} cycles: {}", first + i * width, first + (i + 1) * width - 1, grouped(columns[i])));
    if (i % std::max<std::size_t>(columns.size() / 12, 1) == 0)
      svg.text(left + w / 2, Frame::kHeight - Frame::kBottom + 16, "tick middle", std::to_string(first + i * width));
  }
  return svg.take();
}

std::string shares(const std::vector<AgentStats>& agents) {
  uint64_t most = 1;
  for (const AgentStats& a : agents) most = std::max(most, a.tries);
  const double row = 26, width = 900, names = 140, numbers = 130;
  Svg svg(width, row * static_cast<double>(std::max<std::size_t>(agents.size(), 1)), "Tries of each agent");
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const double y = row * static_cast<double>(i), length = static_cast<double>(agents[i].tries) / static_cast<double>(most) * (width - names - numbers);
    svg.text(names - 8, y + 17, "name end", page::escaped(agents[i].name));
    svg.bar(names, y + 5, std::max(length, 1.5), row - 10, "success", fmt::format("{} tries", grouped(agents[i].tries)));
    svg.text(names + length + 8, y + 17, "number", grouped(agents[i].tries));
  }
  return svg.take();
}

void charts(Page& page, const json& device) {
  const json samples = device.value("samples", json::object());
  const auto every = samples.value("every", 1.0), period = device.value("period_ns", 4.0);
  const auto completed = samples.value("completed", std::vector<uint64_t>{});
  std::vector<double> rate;
  for (std::size_t i = 0; i < completed.size(); ++i)
    rate.push_back(static_cast<double>(completed[i] - (i == 0 ? 0 : completed[i - 1])) / (every * period) * 1e3);
  const double last = every * static_cast<double>(completed.size());
  page.chart("Completions over time", "Million sends completed a second of card time, in each interval. Time that was skipped because nothing moved is not drawn.",
             curve(rate, last, "cycle", "Million completions a second"));
  for (const auto& [name, title, note] :
       {std::tuple{"head_to_wire", "From the head of a queue to the wire", "Cycles from the grant to the entry in the transmit ring, less what host memory took."},
        {"response_to_completion", "From a response to its completion", "Cycles from the header's arrival to the entry in the completion ring."}}) {
    const json h = device.value(name, json::object());
    page.chart(title, fmt::format("{} {} measured: least {}, on average {:.1f}, most {}.", note, grouped(h.value("count", uint64_t{0})),
                                  h.value("least", uint64_t{0}), h.value("mean", 0.0), h.value("most", uint64_t{0})),
               histogram(h, title));
  }
  page.add("<div class=\"pair\">");
  const json waiting = samples.value("waiting", json::object());
  for (const auto& [name, values] : waiting.items()) {
    std::vector<double> most;
    for (const auto& v : values) most.push_back(v.get<double>());
    page.chart("Waiting: " + name, "The most in each interval.", curve(most, last, "cycle", name));
  }
  page.add("</div>");
}

}  // namespace

std::string html_report(const Options& o, const Result& r) {
  Page page;
  page.add("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">");
  page.add("<title>Tidemill co-simulation, seed {}</title><style>{}</style><main>", o.seed, page::kStyle);
  page.add("<header><h1>Tidemill co-simulation</h1><span class=\"pill {}\">{}</span><span class=\"soft\">seed {}, {} agents, {} nodes</span></header>",
           r.passed() ? "good" : "bad", r.passed() ? "passed" : "failed", o.seed, o.agents, o.nodes);
  if (!r.passed()) {
    page.add("<section><h2>What went wrong</h2><ul>");
    for (const std::string& v : r.violations) page.add("<li><code>{}</code></li>", page::escaped(v));
    if (!r.stopped.empty()) page.add("<li><code>{}</code></li>", page::escaped(r.stopped));
    page.add("</ul></section><br>");
  }
  const json& d = r.device;
  const auto cycles = d.is_object() ? d.value("cycles", uint64_t{0}) : 0;
  page.add("<div class=\"tiles\">");
  page.tile(grouped(r.completed), fmt::format("of {} sends completed", grouped(r.accepted)));
  page.tile(grouped(r.mads()), "MADs on the wire, both ways");
  page.tile(grouped(r.port.retried), "tries again");
  page.tile(grouped(cycles), "cycles simulated");
  page.tile(fmt::format("{:.0f} k", static_cast<double>(cycles) / r.seconds / 1e3), "cycles a second");
  page.add("</div>");
  if (d.is_object()) charts(page, d);
  std::vector<double> tries;
  for (const AgentStats& a : r.agents) tries.push_back(static_cast<double>(a.tries));
  page.chart("Tries of each agent", fmt::format("Jain's index {:.4f}; 1 is equal shares.", jain_index(tries)), shares(r.agents));
  page.add("<section><h2>This run again</h2><p><code>{}</code></p></section></main>", page::escaped(replay_command(o)));
  return page.take();
}

}  // namespace tidemill::cosim_run
