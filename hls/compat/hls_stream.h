// SPDX-License-Identifier: Apache-2.0
/// Stand-in for the vendors' hls::stream<T>: a queue that is never full. Reading an empty one ends the program, as
/// hardware would wait for ever. Searched last, see ap_int.h.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <deque>

namespace hls {

template <class T>
class stream {
 public:
  T read() {
    if (items_.empty()) {
      std::fputs("hls::stream: read from an empty stream\n", stderr);
      std::abort();
    }
    T item = items_.front();
    items_.pop_front();
    return item;
  }
  void write(const T& item) { items_.push_back(item); }

 private:
  std::deque<T> items_;
};

}  // namespace hls
