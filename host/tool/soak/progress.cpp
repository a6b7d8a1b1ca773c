// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "report.hpp"

namespace tidemill::soak {
namespace {

constexpr double kRedraw = 0.1;  ///< Seconds.
constexpr double kLineShare = 0.1;
constexpr double kLineSeconds = 10;
constexpr size_t kBar = 24;

std::string bar(double share) {
  const auto full = static_cast<size_t>(share * kBar);
  std::string text;
  for (size_t i = 0; i < kBar; ++i) text += i < full ? "█" : "░";
  return text;
}

}  // namespace

Progress::Progress(std::FILE* out, bool terminal, Goal goal) : out_(out), terminal_(terminal), goal_(goal) {
  next_ = terminal ? 0 : goal.sends != 0 || goal.time.count() > 0 ? kLineShare : kLineSeconds;
}

void Progress::update(const Tally& tally) {
  const double now = seconds();
  const double share = goal_.sends != 0        ? share_of(tally.posted, goal_.sends)
                       : goal_.time.count() > 0 ? std::min(now / goal_.time.count(), 1.0)
                                                : -1;
  const double at = terminal_ || share < 0 ? now : share;
  if (at < next_) return;
  next_ = terminal_ ? now + kRedraw : share < 0 ? now + kLineSeconds : (std::floor(share / kLineShare) + 1) * kLineShare;
  draw(tally, share, now);
}

void Progress::draw(const Tally& tally, double share, double seconds) {
  const auto rate = static_cast<uint64_t>(seconds > 0 ? static_cast<double>(tally.mads()) / seconds : 0);
  const std::string numbers = fmt::format("{} sends  {} MADs  {} MADs/s  {} outstanding", grouped(tally.posted),
                                          grouped(tally.mads()), grouped(rate), grouped(tally.posted - tally.completed));
  const std::string text = share < 0 ? numbers : fmt::format("{:3.0f} %  {}", share * 100, numbers);
  if (terminal_) {
    fmt::print(out_, "\r\x1b[K{} {}", share < 0 ? "" : bar(share), text);
  } else {
    fmt::print(out_, "{}\n", text);
  }
  std::fflush(out_);
}

void Progress::done() {
  if (terminal_) fmt::print(out_, "\r\x1b[K");
  std::fflush(out_);
}

}  // namespace tidemill::soak
