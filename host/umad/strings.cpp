// SPDX-License-Identifier: Apache-2.0
/// umad: names of classes, methods, statuses and attributes. Source: IBA 13.4.
#include <arpa/inet.h>
#include <infiniband/umad_cm.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_str.h>

#include <algorithm>
#include <iterator>

#include "export.hpp"

namespace {

struct Name {
  unsigned value;
  const char* text;
};

template <std::size_t N>
const char* find(const Name (&names)[N], unsigned value, const char* otherwise) {
  const auto* const found =
      std::find_if(std::begin(names), std::end(names), [value](const Name& n) { return n.value == value; });
  return found == std::end(names) ? otherwise : found->text;
}

constexpr Name kClasses[] = {
    {UMAD_CLASS_SUBN_LID_ROUTED, "Subn"},
    {UMAD_CLASS_SUBN_DIRECTED_ROUTE, "SubnDirected"},
    {UMAD_CLASS_SUBN_ADM, "SubnAdm"},
    {UMAD_CLASS_PERF_MGMT, "Perf"},
    {UMAD_CLASS_BM, "BM"},
    {UMAD_CLASS_DEVICE_MGMT, "DevMgt"},
    {UMAD_CLASS_CM, "CM"},
    {UMAD_CLASS_SNMP, "SNMP"},
    {UMAD_CLASS_DEVICE_ADM, "DevAdm"},
    {UMAD_CLASS_BOOT_MGMT, "BootMgt"},
    {UMAD_CLASS_BIS, "BIS"},
    {UMAD_CLASS_CONG_MGMT, "CongestionManagement"},
};
constexpr Name kMethods[] = {
    {UMAD_METHOD_GET, "Get"},
    {UMAD_METHOD_SET, "Set"},
    {UMAD_METHOD_GET_RESP, "GetResp"},
    {UMAD_METHOD_SEND, "Send"},
    {UMAD_METHOD_TRAP, "Trap"},
    {UMAD_METHOD_REPORT, "Report"},
    {UMAD_METHOD_REPORT_RESP, "ReportResp"},
    {UMAD_METHOD_TRAP_REPRESS, "TrapRepress"},
};
constexpr Name kSaMethods[] = {
    {UMAD_SA_METHOD_GET_TABLE, "GetTable"},
    {UMAD_SA_METHOD_GET_TABLE_RESP, "GetTableResp"},
    {UMAD_SA_METHOD_DELETE, "Delete"},
    {UMAD_SA_METHOD_DELETE_RESP, "DeleteResp"},
    {UMAD_SA_METHOD_GET_MULTI, "GetMulti"},
    {UMAD_SA_METHOD_GET_MULTI_RESP, "GetMultiResp"},
    {UMAD_SA_METHOD_GET_TRACE_TABLE, "GetTraceTable"},
};
constexpr Name kStatuses[] = {
    {UMAD_STATUS_BUSY, "Busy"},
    {UMAD_STATUS_REDIRECT, "Redirection required"},
    {UMAD_STATUS_BAD_VERSION, "Bad base or class version"},
    {UMAD_STATUS_METHOD_NOT_SUPPORTED, "Method not supported"},
    {UMAD_STATUS_ATTR_NOT_SUPPORTED, "Method/attribute combination not supported"},
    {UMAD_STATUS_INVALID_ATTR_VALUE, "Invalid attribute or modifier field"},
};
constexpr Name kSaStatuses[] = {
    {UMAD_SA_STATUS_SUCCESS, "Success"},
    {UMAD_SA_STATUS_NO_RESOURCES, "No resources"},
    {UMAD_SA_STATUS_REQ_INVALID, "Request invalid"},
    {UMAD_SA_STATUS_NO_RECORDS, "No records"},
    {UMAD_SA_STATUS_TOO_MANY_RECORDS, "Too many records"},
    {UMAD_SA_STATUS_INVALID_GID, "Invalid GID"},
    {UMAD_SA_STATUS_INSUF_COMPS, "Insufficient components"},
    {UMAD_SA_STATUS_REQ_DENIED, "Request denied"},
    {UMAD_SA_STATUS_PRI_SUGGESTED, "Priority suggested"},
};
constexpr Name kCommonAttributes[] = {
    {UMAD_ATTR_CLASS_PORT_INFO, "ClassPortInfo"}, {UMAD_ATTR_NOTICE, "Notice"}, {UMAD_ATTR_INFORM_INFO, "InformInfo"}};
constexpr Name kSmAttributes[] = {
    {UMAD_SM_ATTR_NODE_DESC, "NodeDescription"},
    {UMAD_SM_ATTR_NODE_INFO, "NodeInfo"},
    {UMAD_SM_ATTR_SWITCH_INFO, "SwitchInfo"},
    {UMAD_SM_ATTR_GUID_INFO, "GUIDInfo"},
    {UMAD_SM_ATTR_PORT_INFO, "PortInfo"},
    {UMAD_SM_ATTR_PKEY_TABLE, "P_KeyTable"},
    {UMAD_SM_ATTR_SLVL_TABLE, "SLtoVLMappingTable"},
    {UMAD_SM_ATTR_VL_ARB_TABLE, "VLArbitrationTable"},
    {UMAD_SM_ATTR_LINEAR_FT, "LinearForwardingTable"},
    {UMAD_SM_ATTR_RANDOM_FT, "RandomForwardingTable"},
    {UMAD_SM_ATTR_MCAST_FT, "MulticastForwardingTable"},
    {UMAD_SM_ATTR_LINK_SPD_WIDTH_TABLE, "LinkSpeedWidthPairsTable"},
    {UMAD_SM_ATTR_VENDOR_MADS_TABLE, "VendorSpecificMadsTable"},
    {UMAD_SM_ATTR_HIERARCHY_INFO, "HierarchyInfo"},
    {UMAD_SM_ATTR_SM_INFO, "SMInfo"},
    {UMAD_SM_ATTR_VENDOR_DIAG, "VendorDiag"},
    {UMAD_SM_ATTR_LED_INFO, "LedInfo"},
    {UMAD_SM_ATTR_CABLE_INFO, "CableInfo"},
    {UMAD_SM_ATTR_PORT_INFO_EXT, "PortInfoExtended"},
};
constexpr Name kSaAttributes[] = {
    {UMAD_SA_ATTR_NODE_REC, "NodeRecord"},
    {UMAD_SA_ATTR_PORT_INFO_REC, "PortInfoRecord"},
    {UMAD_SA_ATTR_SLVL_REC, "SLtoVLMappingTableRecord"},
    {UMAD_SA_ATTR_SWITCH_INFO_REC, "SwitchInfoRecord"},
    {UMAD_SA_ATTR_LINEAR_FT_REC, "LinearForwardingTableRecord"},
    {UMAD_SA_ATTR_RANDOM_FT_REC, "RandomForwardingTableRecord"},
    {UMAD_SA_ATTR_MCAST_FT_REC, "MulticastForwardingTableRecord"},
    {UMAD_SA_ATTR_SM_INFO_REC, "SMInfoRecord"},
    {UMAD_SA_ATTR_LINK_SPD_WIDTH_TABLE_REC, "LinkSpeedWidthPairsTableRecord"},
    {UMAD_SA_ATTR_INFORM_INFO_REC, "InformInfoRecord"},
    {UMAD_SA_ATTR_LINK_REC, "LinkRecord"},
    {UMAD_SA_ATTR_GUID_INFO_REC, "GuidInfoRecord"},
    {UMAD_SA_ATTR_SERVICE_REC, "ServiceRecord"},
    {UMAD_SA_ATTR_PKEY_TABLE_REC, "P_KeyTableRecord"},
    {UMAD_SA_ATTR_PATH_REC, "PathRecord"},
    {UMAD_SA_ATTR_VL_ARB_REC, "VLArbitrationTableRecord"},
    {UMAD_SA_ATTR_MCMEMBER_REC, "MCMemberRecord"},
    {UMAD_SA_ATTR_TRACE_REC, "TraceRecord"},
    {UMAD_SA_ATTR_MULTI_PATH_REC, "MultiPathRecord"},
    {UMAD_SA_ATTR_SERVICE_ASSOC_REC, "ServiceAssociationRecord"},
    {UMAD_SA_ATTR_HIERARCHY_INFO_REC, "HierarchyInfoRecord"},
    {UMAD_SA_ATTR_CABLE_INFO_REC, "CableInfoRecord"},
    {UMAD_SA_ATTR_PORT_INFO_EXT_REC, "PortInfoExtendedRecord"},
};
constexpr Name kCmAttributes[] = {
    {UMAD_CM_ATTR_REQ, "ConnectRequest"},
    {UMAD_CM_ATTR_MRA, "MsgRcptAck"},
    {UMAD_CM_ATTR_REJ, "ConnectReject"},
    {UMAD_CM_ATTR_REP, "ConnectReply"},
    {UMAD_CM_ATTR_RTU, "ReadyToUse"},
    {UMAD_CM_ATTR_DREQ, "DisconnectRequest"},
    {UMAD_CM_ATTR_DREP, "DisconnectReply"},
    {UMAD_CM_ATTR_SIDR_REQ, "ServiceIDResReq"},
    {UMAD_CM_ATTR_SIDR_REP, "ServiceIDResReqResp"},
    {UMAD_CM_ATTR_LAP, "LoadAlternatePath"},
    {UMAD_CM_ATTR_APR, "AlternatePathResponse"},
    {UMAD_CM_ATTR_SAP, "SuggestAlternatePath"},
    {UMAD_CM_ATTR_SPR, "SuggestPathResponse"},
};

constexpr const char* kUnknown = "<unknown>";

}  // namespace

TIDEMILL_UMAD const char* umad_class_str(uint8_t mgmt_class) {
  if (mgmt_class >= UMAD_CLASS_VENDOR_RANGE1_START && mgmt_class <= UMAD_CLASS_VENDOR_RANGE1_END)
    return "Vendor range 1";
  if (mgmt_class >= UMAD_CLASS_VENDOR_RANGE2_START && mgmt_class <= UMAD_CLASS_VENDOR_RANGE2_END)
    return "Vendor range 2";
  return find(kClasses, mgmt_class, kUnknown);
}

TIDEMILL_UMAD const char* umad_method_str(uint8_t mgmt_class, uint8_t method) {
  const char* const common = find(kMethods, method, nullptr);
  if (common != nullptr) return common;
  return mgmt_class == UMAD_CLASS_SUBN_ADM ? find(kSaMethods, method, kUnknown) : kUnknown;
}

TIDEMILL_UMAD const char* umad_common_mad_status_str(__be16 status) {
  const unsigned value = ntohs(status) & 0xffu;
  return value == 0 ? "Success" : find(kStatuses, value & 3u ? value & 3u : value & 0x1cu, kUnknown);
}

TIDEMILL_UMAD const char* umad_sa_mad_status_str(__be16 status) {
  return find(kSaStatuses, ntohs(status) >> 8, kUnknown);
}

TIDEMILL_UMAD const char* umad_attribute_str(uint8_t mgmt_class, __be16 attr_id) {
  const unsigned value = ntohs(attr_id);
  const char* const common = find(kCommonAttributes, value, nullptr);
  if (common != nullptr) return common;
  switch (mgmt_class) {
    case UMAD_CLASS_SUBN_LID_ROUTED:
    case UMAD_CLASS_SUBN_DIRECTED_ROUTE:
      return find(kSmAttributes, value, kUnknown);
    case UMAD_CLASS_SUBN_ADM:
      return find(kSaAttributes, value, kUnknown);
    case UMAD_CLASS_CM:
      return find(kCmAttributes, value, kUnknown);
    default:
      return kUnknown;
  }
}
