// SPDX-License-Identifier: Apache-2.0
#include "device_tool/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "device/plugin.hpp"
#include "device_tool/card_parts.hpp"
#include "device_tool/engine_parts.hpp"
#include "device_tool/loopback.hpp"

namespace tidemill::device_tool {
namespace {

constexpr uint16_t kPlenty = 1024;

struct CardPart {
  const char* name;
  Verdict (*test)(device::Card& card, std::string& found);
};
/// In an order in which each stands on those before.
constexpr CardPart kCardParts[] = {
    {"registers", test_registers},
    {"reset", test_reset},
    {"tick", test_tick},
    {"command ring", test_command_ring},
    {"doorbells", test_doorbells},
    {"send ring", test_send_ring},
    {"card's rings", test_card_rings},
    {"completions", test_completion_burst},
};

struct EnginePart {
  const char* name;
  uint16_t wire_credit;
  Verdict (*test)(EngineRig& rig, std::string& found);
};
constexpr EnginePart kEngineParts[] = {
    {"tracker", kPlenty, test_tracker},     {"TID matcher", kPlenty, test_matcher},
    {"timeout wheel", kPlenty, test_wheel}, {"retries", kPlenty, test_retries},
    {"commands", kPlenty, test_commands},   {"flush", kPlenty, test_flush},
    {"send arbiter", 0, test_arbiter},      {"wire credit", kCredit, test_wire_credit},
};

class Run {
 public:
  Run(SelftestReport& report, const SelftestHooks& hooks) : report_(report), hooks_(hooks) {}

  template <class Test>
  bool part(const char* name, Test&& test) {
    hooks_.begins(name);
    const auto begin = std::chrono::steady_clock::now();
    PartResult result{.name = name, .outcome = Outcome::passed, .detail = {}, .seconds = 0};
    if (const Verdict wrong = test(result.detail)) {
      result.outcome = Outcome::failed;
      result.detail = *wrong;
    }
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return add(std::move(result));
  }
  void skip(const char* name, const std::string& why) {
    hooks_.begins(name);
    add({.name = name, .outcome = Outcome::skipped, .detail = why, .seconds = 0});
  }

 private:
  bool add(PartResult result) {
    hooks_.ended(result);
    report_.parts.push_back(std::move(result));
    return report_.parts.back().outcome == Outcome::passed;
  }
  SelftestReport& report_;
  const SelftestHooks& hooks_;
};

/// The parts that need registers. False if a card is not even that, or does not come out of reset: then there is no
/// use in going on.
bool test_card(Run& run, device::Card& card) {
  for (const CardPart& part : kCardParts) {
    const bool passed = run.part(part.name, [&](std::string& found) { return part.test(card, found); });
    if (!passed && (part.test == test_registers || part.test == test_reset)) return false;
  }
  return true;
}

}  // namespace

bool SelftestReport::passed() const {
  return std::none_of(parts.begin(), parts.end(), [](const PartResult& p) { return p.outcome == Outcome::failed; });
}

Result<SelftestReport> selftest(const std::string& uri, const SelftestHooks& hooks) {
  SelftestReport report{.device = uri, .parts = {}};
  Run run(report, hooks);
  bool virtual_clock = true, usable = true;
  if (uri.starts_with("soft:")) {
    if (const auto opened = device::open_backend(uri, true); !opened) return opened.error();
    for (const CardPart& part : kCardParts) run.skip(part.name, "soft: has none, the engine runs in this process");
  } else {
    auto card = device::open_card(uri);
    if (!card) return card.error();
    virtual_clock = card.value()->time().has_value();
    usable = test_card(run, *card.value());
  }
  for (const EnginePart& part : kEngineParts) {
    if (!usable) {
      run.skip(part.name, "not tried: the card cannot be set up");
      continue;
    }
    run.part(part.name, [&](std::string& found) -> Verdict {
      auto backend = device::open_backend(uri, virtual_clock);
      if (!backend) return backend.error().message;
      EngineRig rig(std::move(backend).value(), virtual_clock, part.wire_credit);
      return part.test(rig, found);
    });
  }
  if (usable)
    run.part("loopback", [&](std::string& found) { return test_loopback(uri, virtual_clock, found); });
  else
    run.skip("loopback", "not tried: the card cannot be set up");
  return report;
}

}  // namespace tidemill::device_tool
