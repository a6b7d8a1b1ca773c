// SPDX-License-Identifier: Apache-2.0
/// Random traffic over whole engines, with loss, duplicates, stale and forged input, stalls, flushes and closings. The
/// scoreboard judges all of it; at the end every slot is free and every credit home.
#include <gtest/gtest.h>

#include <random>

#include "watched_engine.hpp"

namespace tidemill::test {
namespace {

/// The seed of a run: GoogleTest's own if given, else one a test case.
uint64_t seed_of(uint64_t run) {
  const int32_t given = GTEST_FLAG_GET(random_seed);
  return given != 0 ? static_cast<uint64_t>(given) + run : 1 + run;
}

template <class Config, unsigned BankBits>
class Traffic {
 public:
  using Engine = WatchedEngine<Config, BankBits, 6>;

  Traffic(uint64_t seed, bool matcher_has_room)
      : random_(seed),
        e_({.seed = seed, .wire_credit = {credit(), credit()}, .retry_class = 2}, matcher_has_room),
        roomy_(matcher_has_room) {
    for (uint16_t lane = 0; lane < 6; ++lane) open(lane);
  }

  void run(unsigned steps) {
    for (unsigned i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      step();
      if (below(3) == 0) roomy_ ? e_.settle() : rest();
    }
    // Whatever is left comes to its end.
    for (unsigned i = 0; i < 200 && e_.board().outstanding() != 0; ++i) {
      e_.sent_all();
      e_.stall(50);
      rest();
    }
    e_.finish({1, 2, 3});
    EXPECT_EQ(e_.board().counts().accepted, e_.board().counts().completed);
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  uint16_t credit() { return static_cast<uint16_t>(1 + below(12)); }
  /// With a full matcher the engine never rests: it keeps asking for room.
  void rest() {
    if (!roomy_)
      e_.engine().step(e_.now(), 200);
    else
      e_.settle();
  }

  void open(uint16_t lane) {
    e_.open(lane, {.window = static_cast<uint16_t>(lane % 3 == 0 ? 0 : 1 + below(6)),
                   .weight = static_cast<uint8_t>(1 + below(8)),
                   .service_class = static_cast<uint8_t>(1 + lane % 2),
                   .qp = lane < 4});
    closed_[lane] = false;
  }
  SendName any() {
    if (names_.empty()) return {};
    const uint32_t recent = std::min<uint32_t>(static_cast<uint32_t>(names_.size()), 40);
    return names_[names_.size() - 1 - below(recent)];
  }

  void step() {
    const uint16_t lane = static_cast<uint16_t>(below(6));
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        if (!closed_[lane] && e_.has_room(lane)) {
          names_.push_back(e_.post(lane, {.agent = 1 + lane / 2u,
                                          .tid = below(8) == 0 ? std::optional(below(4)) : std::nullopt,
                                          .timeout = below(6) == 0 ? 0 : below(30),
                                          .retries = static_cast<uint8_t>(below(4)),
                                          .backoff_cap = below(3) == 0 ? 1 + below(60) : 0,
                                          .deadline = below(5) == 0 ? 1 + below(100) : 0,
                                          .mgmt_class = static_cast<uint8_t>(below(8) == 0 ? 0x81 : 3),
                                          .qp = lane < 4}));
        }
        break;
      case 4:
      case 5:
      case 6:
        if (!e_.wire().empty()) {
          const auto& t = e_.wire()[below(static_cast<uint32_t>(e_.wire().size()))];
          const uint32_t fate = below(10);
          e_.sent({t.slot(), t.generation()},
                  fate == 0   ? Status::error
                  : fate <= 2 ? Status::flushed
                              : Status::success,
                  static_cast<uint8_t>(below(3)));
        }
        break;
      case 7:
      case 8:
      case 9:
        if (!names_.empty()) e_.respond(any());
        break;
      case 10:
        if (names_.empty()) break;
        e_.respond(any(), [&](abi::Received& r) {
          switch (below(6)) {
            case 0:
              r.port(2);
              break;
            case 1:
              r.grh(true);
              break;
            case 2:
              r.mgmt_class(9);
              break;
            case 3:
              r.tid(r.tid() ^ (1ull << below(64)));
              break;
            case 4:
              r.rmpp(true);
              break;
            default:
              r.response(false);
              break;
          }
        });
        break;
      case 11:
        switch (below(4)) {
          case 0:
            e_.cancel(posted());
            break;
          case 1:
            e_.modify(posted(), below(60));
            break;
          case 2:
            e_.announce(posted(), below(80));
            break;
          default:
            e_.sent(any());
            break;
        }
        break;
      case 12:
        if (below(6) == 0) e_.flush(1 + below(3));
        break;
      case 13:
        if (below(8) != 0) break;
        if (closed_[lane] && e_.drained(lane))
          open(lane);
        else if (!closed_[lane])
          closed_[lane] = e_.close(lane);
        break;
      case 14:
        e_.stall(below(200));
        break;
      default:
        e_.stall(1 + below(4));
        break;
    }
  }
  /// A send for a command. An empty history has none: any stale name will do.
  SendName posted() { return names_.empty() ? SendName{0, 0x8000} : any(); }

  using Status = abi::Status;
  std::mt19937_64 random_;
  Engine e_;
  bool roomy_;
  std::array<bool, 6> closed_{};
  std::vector<SendName> names_;
};

template <class Config, unsigned BankBits>
void run(unsigned runs, unsigned steps, bool matcher_has_room = true) {
  for (unsigned i = 0; i < runs; ++i) {
    const uint64_t seed = seed_of(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Traffic<Config, BankBits>(seed, matcher_has_room).run(steps);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(RandomTraffic, KeepsEveryInvariantInOneBank) {
  run<hls::BankConfig<5, 4>, 0>(20, 2000);
}
TEST(RandomTraffic, KeepsEveryInvariantInFourBanks) {
  run<hls::BankConfig<4, 4>, 2>(20, 2000);
}
TEST(RandomTraffic, KeepsEveryInvariantInASmallWheel) {
  run<hls::BankConfig<4, 4, 3, 1, 4>, 1>(20, 2000);
}
TEST(RandomTraffic, KeepsEveryInvariantWithAFullMatcher) {
  run<hls::BankConfig<5, 0, 5, 2, 3>, 0>(20, 2000, false);
}

}  // namespace
}  // namespace tidemill::test
