// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

namespace tidemill::test {

std::vector<DeviceParam> devices() {
#ifdef TIDEMILL_TEST_COSIM
  return {{"cosim:", Progress::poll}, {"cosim:?stall=0.2", Progress::poll}, {"cosim:", Progress::thread}};
#elif defined(TIDEMILL_TEST_XCLBIN)
  const std::string uri = "xrt:0?xclbin=" TIDEMILL_TEST_XCLBIN;
  return {{uri, Progress::poll}, {uri, Progress::thread}};
#else
  return {{"soft:", Progress::thread}, {"soft:", Progress::poll}, {"soft:?banks=8", Progress::poll}};
#endif
}

}  // namespace tidemill::test

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
