// SPDX-License-Identifier: Apache-2.0
/// What `watch` looks at: a card, a device with a load, or what another process publishes.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "device_tool/watch.hpp"
#include "tidemill/clock.hpp"
#include "tidemill/error.hpp"

namespace tidemill::device_tool {

struct Look {
  enum class Outcome : uint8_t {
    shown,
    nothing_new,  ///< Look again soon.
    closed,       ///< The other process has closed its device.
  };
  Outcome outcome;
  std::string text;  ///< To be printed.
};

class Watched {
 public:
  virtual ~Watched() = default;
  virtual Result<Look> look(WatchView& view) = 0;
  /// Lets so much time pass.
  virtual std::optional<Error> pass(Nanoseconds time);
  virtual std::optional<Error> finish() { return std::nullopt; }
};

/// The counts of a card, look after look.
using CardSource = std::function<Result<metrics::Metrics>()>;
Result<CardSource> card_source(const std::string& uri);

Result<std::unique_ptr<Watched>> watch_card(const std::string& uri);
Result<std::unique_ptr<Watched>> watch_load(const std::string& uri);
/// Rates are between two snapshots, by the time between them, not that between two looks.
std::unique_ptr<Watched> watch_published(std::string path);

}  // namespace tidemill::device_tool
