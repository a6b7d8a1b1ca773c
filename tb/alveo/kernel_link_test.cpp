// SPDX-License-Identifier: Apache-2.0
// The kernel link against a kernel with stream registers, which takes events ahead and knows nothing of the shell's
// reset. TIDEMILL_SEED replays a random run.
#include <Vtidemill_kernel_link.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <optional>
#include <random>
#include <string>

namespace {

constexpr uint64_t kClear = ~uint64_t{0};

/// Answers each event with its complement after some cycles; takes up to three events ahead.
struct Kernel {
  std::deque<uint64_t> held;
  unsigned wait = 0;
  unsigned cleared = 0;
  bool ready() const { return held.size() < 3; }
  bool valid() const { return !held.empty() && wait == 0; }
};

class KernelLink : public testing::Test {
 protected:
  KernelLink() {
    const char* const chosen = std::getenv("TIDEMILL_SEED");
    const uint64_t seed = chosen != nullptr ? std::stoull(chosen) : 1;
    RecordProperty("seed", std::to_string(seed));
    random.seed(seed);
    m.rst_i = 1;
    m.shell_reset_i = 1;
    cycle();
    cycle();
    m.rst_i = 0;
    cycle();
    m.shell_reset_i = 0;
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random); }

  /// One clock; `stall` is how often either side is not ready.
  void cycle(double stall = 0) {
    m.clk_i = 0;
    m.event_valid_i = to_send.has_value();
    m.event_i = to_send.value_or(0);
    m.action_ready_i = !chance(stall);
    m.event_ready_i = kernel.ready() && !chance(stall);
    m.action_valid_i = kernel.valid() && !m.rst_i && (m.action_valid_i || !chance(stall));
    m.action_i = kernel.held.empty() ? 0 : ~kernel.held.front();
    m.eval();
    const bool taken = m.event_valid_o && m.event_ready_i, given = m.action_valid_i && m.action_ready_o;
    const uint64_t event = m.event_o;
    accepted = m.event_valid_i && m.event_ready_o;
    answer = m.action_valid_o && m.action_ready_i ? std::optional<uint64_t>(m.action_o) : std::nullopt;
    m.clk_i = 1;
    m.eval();
    if (m.rst_i) return;
    if (kernel.wait > 0) --kernel.wait;
    if (given) {
      kernel.cleared += kernel.held.front() == kClear;
      kernel.held.pop_front();
      kernel.wait = 5;
    }
    if (taken) {
      if (kernel.held.empty()) kernel.wait = 5;
      kernel.held.push_back(event);
      most = std::max(most, kernel.held.size());
    }
  }
  /// Until the kernel has cleared itself `times` times.
  void until_cleared(unsigned times) {
    for (int i = 0; i < 100 && kernel.cleared < times; ++i) cycle();
    ASSERT_EQ(kernel.cleared, times);
  }

  std::mt19937_64 random;
  Vtidemill_kernel_link m;
  Kernel kernel;
  std::optional<uint64_t> to_send;
  bool accepted = false;
  std::optional<uint64_t> answer;
  std::size_t most = 0;
};

TEST_F(KernelLink, ClearsTheKernelBeforeTheFirstEvent) {
  to_send = 7;
  for (int i = 0; i < 100 && !accepted; ++i) {
    cycle();
    if (accepted) {
      EXPECT_EQ(kernel.cleared, 1u);
    }
    EXPECT_FALSE(answer) << "the answer to the clearing is nobody's";
  }
  EXPECT_TRUE(accepted);
}

TEST_F(KernelLink, OneEventIsWithTheKernelAndTheNextGoesWithItsAnswer) {
  until_cleared(1);
  unsigned answers = 0, with_answer = 0;
  uint64_t next = 1, expected = 1;
  for (int i = 0; i < 1000; ++i) {
    to_send = next;
    cycle();
    if (answer) {
      EXPECT_EQ(*answer, ~expected++);
      ++answers;
      with_answer += accepted;
    }
    if (accepted) ++next;
  }
  EXPECT_EQ(most, 1u);
  EXPECT_GT(answers, 100u);
  EXPECT_EQ(with_answer, answers);
}

TEST_F(KernelLink, AResetAtAnyTimeLosesWhatIsDueAndClearsAgain) {
  uint64_t next = 1;
  std::deque<uint64_t> due;
  unsigned resets = 0;
  for (int i = 0; i < 20000; ++i) {
    if (!to_send && chance(0.7)) to_send = next++;
    if (chance(0.01)) {
      ++resets;
      due.clear();
      to_send.reset();  // the shell in reset withdraws what it showed
      m.shell_reset_i = 1;
      for (unsigned n = 1 + random() % 16; n > 0; --n) {
        cycle(0.3);
        ASSERT_FALSE(answer || accepted);
      }
      m.shell_reset_i = 0;
      continue;
    }
    cycle(0.3);
    if (accepted) {
      due.push_back(*to_send);
      to_send.reset();
    }
    if (answer) {
      ASSERT_FALSE(due.empty());
      ASSERT_EQ(*answer, ~due.front());
      due.pop_front();
    }
    ASSERT_LE(due.size(), 1u);
  }
  EXPECT_GT(resets, 100u);
  EXPECT_GT(kernel.cleared, resets / 2);
  EXPECT_EQ(most, 1u);
}

}  // namespace
