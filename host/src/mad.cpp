// SPDX-License-Identifier: Apache-2.0
#include "tidemill/mad.hpp"

#include <algorithm>

#include "hls/classify.hpp"
#include "mad_edit.hpp"

namespace tidemill {

bool MadView::is_response() const { return hls::is_response(mgmt_class(), method(), modifier()); }

bool MadView::has_rmpp() const {
  switch (mgmt_class()) {
    case mad_class::subn_adm:
    case mad_class::dev_mgt:
    case mad_class::dev_adm:
    case mad_class::bis: return true;
    default: return is_vendor2();
  }
}

Mad::Mad(MadView view) { std::ranges::copy(view.bytes(), bytes_.begin()); }

Mad Mad::make(uint8_t mgmt_class, uint8_t class_version, uint8_t method, uint16_t attribute, uint32_t modifier) {
  Mad mad;
  mad.base_version(1).mgmt_class(mgmt_class).class_version(class_version).method(method);
  mad.attribute(attribute).modifier(modifier);
  return mad;
}

Mad& Mad::put8(std::size_t at, uint8_t v) {
  tidemill::put8(bytes_, at, v);
  return *this;
}
Mad& Mad::put16(std::size_t at, uint16_t v) {
  tidemill::put16(bytes_, at, v);
  return *this;
}
Mad& Mad::put32(std::size_t at, uint32_t v) {
  tidemill::put32(bytes_, at, v);
  return *this;
}
Mad& Mad::put64(std::size_t at, uint64_t v) {
  tidemill::put64(bytes_, at, v);
  return *this;
}

Mad make_response(MadView request, uint16_t status) {
  Mad response(request);
  become_response(response.bytes(), status);
  return response;
}

}  // namespace tidemill
