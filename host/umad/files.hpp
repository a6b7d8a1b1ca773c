// SPDX-License-Identifier: Apache-2.0
/// The open ports of the process, by descriptor. Any thread.
#pragma once
#include <memory>

#include "port_file.hpp"

namespace tidemill::umad {

int add_file(std::shared_ptr<PortFile> file);
/// Null if no port has this descriptor.
std::shared_ptr<PortFile> find_file(int fd);
std::shared_ptr<PortFile> take_file(int fd);
/// At the end of the process.
void drop_files();

}  // namespace tidemill::umad
