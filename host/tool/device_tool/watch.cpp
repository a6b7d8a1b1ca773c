// SPDX-License-Identifier: Apache-2.0
#include "device_tool/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tidemill::device_tool {
namespace {

constexpr std::size_t kHistory = 32;
constexpr unsigned kBar = 32;
constexpr std::array<const char*, WatchView::kRows> kNames{"transmitted", "matched", "completed", "retried",
                                                           "timeouts",    "dropped", "errors"};

/// The runtime's counts, where there is one; else the card's own.
std::array<uint64_t, WatchView::kRows> totals(const metrics::Metrics& m) {
  const std::string from = m.find("tidemill_port_transmitted_total") != nullptr ? "tidemill_port_" : "tidemill_card_";
  const std::string completed = from + "completed_total";
  return {m.sum(from + "transmitted_total"),
          m.sum(from + "matched_total"),
          m.sum(completed),
          m.sum(from + "retried_total"),
          m.sum(completed, {"status", "timeout"}) + m.sum(completed, {"status", "deadline"}),
          m.sum(from + "dropped_total"),
          m.sum(completed, {"status", "error"}) + m.sum("tidemill_card_errors_total")};
}

uint64_t outstanding(const metrics::Metrics& m) {
  return m.sum("tidemill_agent_outstanding");
}

std::string failure(const metrics::Metrics& m) {
  const uint64_t reason = m.sum("tidemill_card_failure");
  if (reason == 0) return {};
  return reason < abi::kFailureCount ? abi::name_of(static_cast<abi::Failure>(reason)) : "unknown reason";
}

std::string spark(const std::vector<double>& values) {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::string out;
  for (const double v : values) out += v <= 0 ? " " : kBlocks[static_cast<std::size_t>(std::ceil(v / most * 8)) - 1];
  return out;
}

std::string bar(uint64_t value, uint64_t of) {
  const auto filled = of == 0 ? 0 : static_cast<unsigned>(std::min(value * kBar / of, uint64_t{kBar}));
  std::string out;
  for (unsigned i = 0; i < kBar; ++i) out += i < filled || (i == 0 && value != 0) ? "█" : "░";
  return out;
}

}  // namespace

std::string brief(double value) {
  if (value < 999.5) return fmt::format("{:.{}f}", value, value < 10 && value != std::floor(value) ? 1 : 0);
  if (value < 999'500) return fmt::format("{:.1f}k", value / 1e3);
  return fmt::format("{:.2f}M", value / 1e6);
}

std::string WatchView::look(const metrics::Metrics& m, double seconds) {
  const auto now = totals(m);
  elapsed_ += seconds;
  for (unsigned r = 0; r < kRows; ++r) {
    Rate& rate = rates_[r];
    // A count that went back is a device that was opened anew, or a register of 32 bits that wrapped.
    if (rate.last && seconds > 0) {
      rate.history.push_back(now[r] >= *rate.last ? static_cast<double>(now[r] - *rate.last) / seconds : 0);
      if (rate.history.size() > kHistory) rate.history.erase(rate.history.begin());
    }
    rate.last = now[r];
  }
  std::string out;
  if (terminal_) {
    screen_ = draw(m, now);
    out = (looks_ == 0 ? "\033[2J\033[H" : "\033[H") + screen_ + "\033[J";
  } else if (looks_ != 0) {
    out = line(m);
  }
  ++looks_;
  return out;
}

std::string WatchView::stale(double seconds) const {
  const std::string text =
      fmt::format("stale: the last snapshot is {:.0f} s old, the process that publishes makes no progress", seconds);
  if (!terminal_) return fmt::format("{:>6.1f} s  {}\n", elapsed_ + seconds, text);
  return fmt::format("\033[H{}\033[K\n\033[33m{}\033[0m\033[K\n\033[J", screen_, text);
}

std::string WatchView::draw(const metrics::Metrics& m, const std::array<uint64_t, kRows>& now) const {
  std::string out = fmt::format("\033[1m{}\033[0m  {:.0f} s\033[K\n\033[K\n", title_, elapsed_);
  for (unsigned r = 0; r < kRows; ++r) {
    const double rate = rates_[r].history.empty() ? 0 : rates_[r].history.back();
    const bool alarming = (r == timeouts || r == errors) && rate > 0;
    out += fmt::format("{:<12} {}{:>8}/s{} {:>12}  {}\033[K\n", kNames[r], alarming ? "\033[33m" : "", brief(rate),
                       alarming ? "\033[0m" : "", brief(static_cast<double>(now[r])), spark(rates_[r].history));
  }
  const uint64_t slots = m.sum("tidemill_device_slots"), busy = outstanding(m);
  if (slots != 0)
    out += fmt::format("\033[K\noccupancy    {} {} of {} slots\033[K\n", bar(busy, slots), busy, slots);
  else
    out += fmt::format("\033[K\nqueues       {}\033[K\n", m.sum("tidemill_card_idle") != 0 ? "idle" : "busy");
  if (const std::string why = failure(m); !why.empty())
    out += fmt::format("\033[31mthe card has stopped: {}\033[0m\033[K\n", why);
  return out;
}

std::string WatchView::line(const metrics::Metrics& m) const {
  std::string out = fmt::format("{:>6.1f} s", elapsed_);
  for (unsigned r = 0; r < kRows; ++r)
    out += fmt::format("  {} {}/s", kNames[r], brief(rates_[r].history.empty() ? 0 : rates_[r].history.back()));
  if (m.find("tidemill_device_slots") != nullptr)
    out += fmt::format("  outstanding {} of {}", outstanding(m), m.sum("tidemill_device_slots"));
  if (const std::string why = failure(m); !why.empty()) out += fmt::format("  STOPPED: {}", why);
  return out + "\n";
}

}  // namespace tidemill::device_tool
