// SPDX-License-Identifier: Apache-2.0
// Skid buffer and FIFO: order under stalls, exact latency and throughput. TIDEMILL_SEED replays a random run.
#include <Vtidemill_stream_fifo.h>
#include <Vtidemill_stream_skid.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace {

template <class Model>
class Stream : public testing::Test {
 protected:
  Stream() {
    model.valid_i = 0;
    model.ready_i = 0;
    model.rst_i = 1;
    clock();
    clock();
    model.rst_i = 0;
    model.eval();
  }
  void clock() {
    model.clk_i = 0;
    model.eval();
    model.clk_i = 1;
    model.eval();
  }
  static constexpr int kLatency = std::is_same_v<Model, Vtidemill_stream_skid> ? 1 : 2;
  Model model;
};

using Models = testing::Types<Vtidemill_stream_skid, Vtidemill_stream_fifo>;
TYPED_TEST_SUITE(Stream, Models);

TYPED_TEST(Stream, LatencyIsExact) {
  auto& m = this->model;
  m.valid_i = 1;
  m.data_i = 7;
  m.eval();
  ASSERT_TRUE(m.ready_o);
  int cycles = 0;
  while (!m.valid_o && cycles < 10) {
    this->clock();
    m.valid_i = 0;
    m.eval();
    ++cycles;
  }
  EXPECT_EQ(cycles, this->kLatency);
  EXPECT_EQ(m.data_o, 7u);
}

TYPED_TEST(Stream, TakesAndGivesOneWordACycle) {
  auto& m = this->model;
  m.ready_i = 1;
  m.valid_i = 1;
  std::uint32_t out = 0;
  for (std::uint32_t cycle = 0; cycle < 1000; ++cycle) {
    m.data_i = cycle;
    m.eval();
    ASSERT_TRUE(m.ready_o) << cycle;
    ASSERT_EQ(m.valid_o, cycle >= static_cast<std::uint32_t>(this->kLatency)) << cycle;
    if (m.valid_o) ASSERT_EQ(m.data_o, out++);
    this->clock();
  }
}

TYPED_TEST(Stream, KeepsOrderUnderRandomStalls) {
  const char* given = std::getenv("TIDEMILL_SEED");
  const auto seed = given ? static_cast<std::uint32_t>(std::stoul(given)) : 1u;
  SCOPED_TRACE("replay with TIDEMILL_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  auto& m = this->model;
  std::uint32_t in = 0, out = 0;
  for (int cycle = 0; cycle < 100000; ++cycle) {
    const unsigned bias = 1 + (cycle / 500) % 3;
    if (!m.valid_i) m.valid_i = random() % 4 < bias;
    m.ready_i = random() % 4 < 4 - bias;
    m.data_i = in;
    m.eval();
    const bool put = m.valid_i && m.ready_o, get = m.valid_o && m.ready_i;
    if (get) ASSERT_EQ(m.data_o, out++) << "cycle " << cycle;
    this->clock();
    if (put) {
      ++in;
      m.valid_i = 0;
    }
  }
  EXPECT_GT(out, 10000u);
  EXPECT_LE(in - out, 16u);
}

}  // namespace
