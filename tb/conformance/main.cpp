// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

namespace tidemill::test {

std::vector<DeviceParam> devices() {
#ifdef TIDEMILL_TEST_COSIM
  return {{"cosim:", Progress::poll}, {"cosim:?stall=0.2", Progress::poll}, {"cosim:", Progress::thread}};
#elif defined(TIDEMILL_TEST_XCLBIN)
  setenv("TIDEMILL_XCLBIN", TIDEMILL_TEST_XCLBIN, 0);
  return {{"xrt:0", Progress::poll}, {"xrt:0", Progress::thread}};
#else
  return {{"soft:", Progress::thread}, {"soft:", Progress::poll}, {"soft:?banks=8", Progress::poll}};
#endif
}

}  // namespace tidemill::test

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
