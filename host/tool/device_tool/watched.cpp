// SPDX-License-Identifier: Apache-2.0
#include "device_tool/watched.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "device/plugin.hpp"
#include "device_tool/exposition.hpp"
#include "device_tool/load.hpp"

namespace tidemill::device_tool {
namespace {

using std::chrono::duration;

/// Whose counts are those of the moment: rates are by the time between looks.
class Live : public Watched {
 public:
  Result<Look> look(WatchView& view) override {
    const auto m = read();
    if (!m) return m.error();
    const auto now = std::chrono::steady_clock::now();
    const double seconds = last_ ? duration<double>(now - *last_).count() : 0;
    last_ = now;
    return Look{Look::Outcome::shown, view.look(m.value(), seconds)};
  }

 private:
  virtual Result<metrics::Metrics> read() = 0;
  std::optional<std::chrono::steady_clock::time_point> last_;
};

class LiveCard final : public Live {
 public:
  explicit LiveCard(CardSource source) : source_(std::move(source)) {}

 private:
  Result<metrics::Metrics> read() override { return source_(); }
  CardSource source_;
};

class LiveLoad final : public Live {
 public:
  explicit LiveLoad(std::unique_ptr<Load> load) : load_(std::move(load)) {}
  std::optional<Error> pass(Nanoseconds time) override { return load_->send_for(time); }
  std::optional<Error> finish() override { return load_->drain(); }

 private:
  Result<metrics::Metrics> read() override { return parse_exposition(load_->metrics()); }
  std::unique_ptr<Load> load_;
};

/// A snapshot is written once a second.
constexpr std::chrono::seconds kStale{5};

class PublishedFile final : public Watched {
 public:
  explicit PublishedFile(std::string path) : path_(std::move(path)) {}

  Result<Look> look(WatchView& view) override {
    auto snapshot = read_published(path_);
    if (!snapshot) {
      if (last_ && !std::filesystem::exists(path_)) return Look{Look::Outcome::closed, {}};
      return snapshot.error();
    }
    const auto written = snapshot->written;
    const duration<double> age = std::chrono::system_clock::now() - written;
    const bool anew = !last_ || written != *last_;
    std::string text;
    if (anew) text = view.look(snapshot->metrics, last_ ? duration<double>(written - *last_).count() : 0);
    last_ = written;
    if (age > kStale) return Look{Look::Outcome::shown, text + view.stale(age.count())};
    return Look{anew ? Look::Outcome::shown : Look::Outcome::nothing_new, text};
  }

 private:
  std::string path_;
  std::optional<std::chrono::system_clock::time_point> last_;
};

}  // namespace

std::optional<Error> Watched::pass(Nanoseconds time) {
  std::this_thread::sleep_for(time);
  return std::nullopt;
}

Result<CardSource> card_source(const std::string& uri) {
  if (uri.starts_with("soft:"))
    return Error{Errc::unknown_device,
                 fmt::format("{} has no registers, and its counts are those of the process that has it: name a card, "
                             "add --load, or read with --from what a process publishes",
                             uri)};
  auto opened = device::open_card(uri);
  if (!opened) return opened.error();
  std::shared_ptr<device::Card> card(std::move(opened).value());
  if (const uint32_t magic = card->read(abi::reg::magic); magic != abi::kMagicReset)
    return Error{Errc::device_failed,
                 fmt::format("{}: register magic is {:#010x}: no Tidemill card answers", uri, magic)};
  return CardSource([card]() -> Result<metrics::Metrics> {
    metrics::Metrics m;
    m.gauge("tidemill_device_info", "Always 1; the labels say what it is.", {{"kind", card->kind()}}, 1);
    metrics::add_card(m, device::read_counters(*card));
    if (const std::string why = card->removed(); !why.empty())
      return Error{Errc::device_failed, "the card has gone: " + why};
    return m;
  });
}

Result<std::unique_ptr<Watched>> watch_card(const std::string& uri) {
  auto source = card_source(uri);
  if (!source) return source.error();
  return std::unique_ptr<Watched>(std::make_unique<LiveCard>(std::move(source).value()));
}

Result<std::unique_ptr<Watched>> watch_load(const std::string& uri) {
  auto load = Load::open(uri);
  if (!load) return load.error();
  return std::unique_ptr<Watched>(std::make_unique<LiveLoad>(std::move(load).value()));
}

std::unique_ptr<Watched> watch_published(std::string path) {
  return std::make_unique<PublishedFile>(std::move(path));
}

}  // namespace tidemill::device_tool
