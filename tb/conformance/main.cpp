// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

namespace tidemill::test {

std::vector<DeviceParam> devices() {
  return {{"soft:", Progress::thread}, {"soft:", Progress::poll}, {"soft:?banks=8", Progress::poll}};
}

}  // namespace tidemill::test

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
