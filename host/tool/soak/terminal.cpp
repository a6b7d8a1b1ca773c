// SPDX-License-Identifier: Apache-2.0
/// The drawn summary of a run for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "report.hpp"

namespace tidemill::soak {
namespace {

constexpr size_t kBar = 40;

/// Horizontal bar in eighths of a character; whatever is not nothing is visible.
std::string bar(double share) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  auto eighths = static_cast<size_t>(std::lround(share * kBar * 8));
  if (share > 0 && eighths == 0) eighths = 1;
  std::string text;
  for (size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  const size_t used = (eighths + 7) / 8;
  return text + std::string(kBar > used ? kBar - used : 0, ' ');
}

class Page {
 public:
  template <class... Parts>
  void line(fmt::format_string<Parts...> text, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<Parts>(parts)...);
    text_ += '\n';
  }
  /// `scale` is the value of a full bar.
  void row(const std::string& name, uint64_t count, uint64_t scale, uint64_t whole) {
    line("  {:>16} {} {:>11}  {:>7}", name, bar(share_of(count, scale)), grouped(count), percent(share_of(count, whole)));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void statuses(Page& page, const Tally& tally) {
  page.line("Completions by status");
  for (unsigned i = 0; i < abi::kStatusCount; ++i)
    page.row(name_of(static_cast<abi::Status>(i)), tally.by_status[i], tally.completed, tally.completed);
}

void causes(Page& page, const Tally& tally) {
  uint64_t most = 0, all = 0;
  for (const uint64_t count : tally.dropped) {
    most = std::max(most, count);
    all += count;
  }
  page.line("\nResponses dropped by cause: {} of {} MADs received", grouped(all), grouped(tally.mads_in));
  for (unsigned i = 1; i < abi::kCauseCount; ++i) {
    if (tally.dropped[i] != 0) page.row(name_of(static_cast<abi::Cause>(i)), tally.dropped[i], most, all);
  }
}

void latencies(Page& page, const Tally& tally) {
  const Histogram& h = tally.answered;
  page.line("\nTicks from post to completion, answered sends: half within {}, 99 % within {}, 99.9 % within {}, longest {}",
            h.percentile(0.5), h.percentile(0.99), h.percentile(0.999), h.longest());
  // Octaves here; the page of charts has them in halves.
  std::array<uint64_t, Histogram::kClasses / 2> octaves{};
  for (unsigned i = 0; i < Histogram::kClasses; ++i) octaves[i / 2] += h.count(i);
  const uint64_t most = *std::max_element(octaves.begin(), octaves.end());
  const auto used = [](uint64_t count) { return count != 0; };
  const auto first = std::find_if(octaves.begin(), octaves.end(), used);
  const auto last = std::find_if(octaves.rbegin(), octaves.rend(), used).base();
  for (auto octave = first; octave < last; ++octave) {
    const auto i = static_cast<unsigned>(octave - octaves.begin()) * 2;
    page.row(fmt::format("{}-{}", Histogram::first(i), Histogram::first(i + 2) - 1), *octave, most, h.total());
  }
}

void faults(Page& page, const Tally& tally) {
  page.line("\nFaults on purpose");
  for (size_t i = 0; i < kFaults.size(); i += 3) {
    std::string text;
    for (size_t j = i; j < std::min(i + 3, kFaults.size()); ++j)
      text += fmt::format("  {:>9} {:<28}", grouped(tally.faults.*kFaults[j].count), kFaults[j].name);
    page.line("{}", text.substr(0, text.find_last_not_of(' ') + 1));
  }
}

void verdict(Page& page, const Result& result, bool colour) {
  const char* const plain = colour ? "\x1b[0m" : "";
  if (result.passed()) {
    page.line("\n{}passed{}: {} sends accepted and completed, all slots free, all credits home; fingerprint {:016x}",
              colour ? "\x1b[1;32m" : "", plain, grouped(result.tally.posted), result.tally.fingerprint);
    return;
  }
  page.line("\n{}FAILED{} at tick {}, after {} sends:", colour ? "\x1b[1;31m" : "", plain, grouped(result.ticks),
            grouped(result.tally.posted));
  for (const std::string& violation : result.violations) page.line("  {}", violation);
  page.line("replay: {}", replay_command(result.options, result.tally.posted));
}

}  // namespace

std::string terminal_summary(const Report& report, bool colour) {
  const Result& result = report.result;
  const Tally& tally = result.tally;
  Page page;
  page.line("");
  statuses(page, tally);
  causes(page, tally);
  latencies(page, tally);
  faults(page, tally);
  page.line("\n{} MADs in {:.1f} s: {} MADs/s, host model, peers and scoreboard included; {} ticks ({:.1f} ms of a card), {} retries", grouped(tally.mads()),
            report.seconds, grouped(static_cast<uint64_t>(report.mads_per_second())), grouped(result.ticks), result.ticks * kTickSeconds * 1e3,
            grouped(result.counters.retried));
  verdict(page, result, colour);
  return page.take();
}

}  // namespace tidemill::soak
