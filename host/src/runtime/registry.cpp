// SPDX-License-Identifier: Apache-2.0
#include "runtime/registry.hpp"

#include "fmt/format.h"
#include "runtime/agent_state.hpp"

namespace tidemill {

MadFilter MadFilter::get_and_set(uint8_t mgmt_class, uint8_t class_version) {
  MadFilter f{.mgmt_class = mgmt_class, .class_version = class_version, .methods = {}, .oui = 0};
  f.methods.set(mad_method::get).set(mad_method::set);
  return f;
}

namespace detail {
namespace {

constexpr uint32_t kOuiMask = 0xffffff;
constexpr uint8_t kClassVersionEnd = 0x83;  // OPA's highest is 0x82

bool is_smi_class(uint8_t c) { return c == mad_class::subn_lid || c == mad_class::subn_directed; }
bool is_vendor2(uint8_t c) { return c >= mad_class::vendor2_first && c <= mad_class::vendor2_last; }
bool has_rmpp(uint8_t c) {
  return c == mad_class::subn_adm || c == mad_class::dev_mgt || c == mad_class::dev_adm || c == mad_class::bis || is_vendor2(c);
}

}  // namespace

Error check_registration(const Registration& r, const WireAttributes& port) {
  if ((r.qp == Qp::smi && !port.has_smi) || (r.qp == Qp::gsi && !port.has_gsi))
    return {Errc::qp_not_supported, fmt::format("this port has no QP{}; register on the other one", r.qp == Qp::smi ? 0 : 1)};
  if (r.rmpp_version > 1)
    return {Errc::bad_rmpp_version, fmt::format("RMPP version {} does not exist; use 0 (none) or 1", r.rmpp_version)};
  if (r.unsolicited) {
    const MadFilter& f = *r.unsolicited;
    if (f.class_version >= kClassVersionEnd)
      return {Errc::bad_class_version, fmt::format("class version {:#x} is above {:#x}", f.class_version, kClassVersionEnd - 1)};
    if (!r.on_receive)
      return {Errc::no_receive_handler, "unsolicited MADs were asked for, but on_receive is empty"};
    if (f.mgmt_class == 0 || (f.mgmt_class > mad_class::vendor2_last && f.mgmt_class != mad_class::subn_directed))
      return {Errc::bad_class, fmt::format("management class {:#x} cannot be registered; it is 0x01-0x4f or 0x81", f.mgmt_class)};
    if (is_vendor2(f.mgmt_class) && (f.oui == 0 || f.oui > kOuiMask))
      return {Errc::bad_oui, fmt::format("vendor class {:#x} needs an OUI of 24 bits other than 00-00-00, not {:#x}",
                                         f.mgmt_class, f.oui)};
    if (r.rmpp_version != 0 && !has_rmpp(f.mgmt_class))
      return {Errc::class_without_rmpp, fmt::format("management class {:#x} has no RMPP; set rmpp_version to 0", f.mgmt_class)};
    if (is_smi_class(f.mgmt_class) != (r.qp == Qp::smi))
      return {Errc::class_not_on_qp,
              fmt::format("management class {:#x} belongs to QP{}", f.mgmt_class, is_smi_class(f.mgmt_class) ? 0 : 1)};
  } else if (!r.on_send && !r.calls_only) {
    return {Errc::no_send_handler, "neither unsolicited MADs nor a send handler: set on_send, or calls_only to use call() alone"};
  }
  if (r.weight == 0 || r.service_class > 3)
    return {Errc::bad_weight, fmt::format("weight {} is 1 to 255, service class {} is 0 to 3", r.weight, r.service_class)};
  if (r.queue_depth == 0 || (r.queue_depth & (r.queue_depth - 1)) != 0 || r.queue_depth > 65536)
    return {Errc::bad_queue_depth, fmt::format("queue_depth {} is not a power of two up to 65536", r.queue_depth)};
  return {};
}

Registry::Key Registry::key_of(const MadFilter& f) {
  return {f.class_version, f.mgmt_class, is_vendor2(f.mgmt_class) ? f.oui : 0};
}

unsigned Registry::ouis(const Key& key) const {
  unsigned n = 0;
  for (const auto& [k, methods] : table_) n += k.class_version == key.class_version && k.mgmt_class == key.mgmt_class;
  return n;
}

Error Registry::add(const MadFilter& f, const std::shared_ptr<AgentState>& agent) {
  if (f.methods.none()) return {};
  const Key key = key_of(f);
  const auto found = table_.find(key);
  if (found == table_.end()) {
    if (is_vendor2(f.mgmt_class) && ouis(key) >= kOuisPerClass)
      return {Errc::too_many_ouis, fmt::format("vendor class {:#x} version {} has {} OUIs already", f.mgmt_class, f.class_version, kOuisPerClass)};
  } else {
    for (unsigned m = 0; m < f.methods.size(); ++m)
      if (f.methods[m] && found->second[m])
        return {Errc::method_taken, fmt::format("class {:#x} version {} method {:#x} belongs to agent {} ('{}')", f.mgmt_class,
                                                f.class_version, m, found->second[m]->id(), found->second[m]->name())};
  }
  Methods& methods = table_[key];
  for (unsigned m = 0; m < f.methods.size(); ++m)
    if (f.methods[m]) methods[m] = agent;
  return {};
}

void Registry::remove(const MadFilter& f, const AgentState& agent) {
  const auto found = table_.find(key_of(f));
  if (found == table_.end()) return;
  bool used = false;
  for (auto& owner : found->second) {
    if (owner.get() == &agent) owner.reset();
    used |= owner != nullptr;
  }
  if (!used) table_.erase(found);
}

std::shared_ptr<AgentState> Registry::find(const MadView& mad) const {
  if (mad.class_version() >= kClassVersionEnd) return nullptr;
  const auto found = table_.find({mad.class_version(), mad.mgmt_class(), mad.is_vendor2() ? mad.oui() : 0});
  return found == table_.end() ? nullptr : found->second[mad.method() & 0x7fu];
}

}  // namespace detail
}  // namespace tidemill
