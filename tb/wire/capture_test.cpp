// SPDX-License-Identifier: Apache-2.0
// Captures are read back by tshark: what it shows must be what was sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tidemill/trace.hpp"
#include "trace_file.hpp"

namespace tidemill::test {
namespace {

using testing::HasSubstr;
using Row = std::vector<std::string>;

std::string run(const std::string& command) {
  std::FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  std::string output;
  std::array<char, 4096> chunk;
  for (std::size_t n; pipe != nullptr && (n = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) {
    output.append(chunk.data(), n);
  }
  if (pipe != nullptr) ::pclose(pipe);
  return output;
}

/// One row for each packet with the fields asked for.
std::vector<Row> dissect(const std::string& path, const std::vector<std::string>& fields, const std::string& filter = "") {
  std::string command = "tshark -r " + path + " -T fields -E separator='|' -E occurrence=f";
  if (!filter.empty()) command += " -Y '" + filter + "'";
  for (const std::string& field : fields) command += " -e " + field;
  std::vector<Row> rows;
  std::istringstream lines(run(command));
  for (std::string line; std::getline(lines, line);) {
    Row row(1);
    for (const char c : line) {
      if (c == '|') {
        row.emplace_back();
      } else {
        row.back() += c;
      }
    }
    rows.push_back(row);
  }
  return rows;
}

class Capture : public testing::Test {
 protected:
  void SetUp() override {
    if (run("tshark --version").empty()) {
      ASSERT_EQ(std::getenv("TIDEMILL_CI"), nullptr) << "tshark is missing";
      GTEST_SKIP() << "tshark is missing: install what .ci/packages lists";
    }
    trace.port_opened({.lid = 3, .port_guid = 0x00d1de0000000301});
  }
  const std::string& write() {
    EXPECT_TRUE(trace.write_capture(file.path()).ok());
    return file.path();
  }

  Trace trace;
  TraceFile file{"pcapng"};
};

const std::vector<std::string> kMadFields{"infiniband.mad.baseversion", "infiniband.mad.mgmtclass",
                                          "infiniband.mad.classversion", "infiniband.mad.method",
                                          "infiniband.mad.status", "infiniband.mad.transactionid",
                                          "infiniband.mad.attributeid", "infiniband.mad.attributemodifier"};

TEST_F(Capture, ShowsTheMadsThatWereSent) {
  Address peer{.lid = 0x1234, .sl = 5};
  trace.mad_on_wire(true, Qp::gsi, peer,
                    Mad::make(mad_class::perf, 1, mad_method::get, 0x0012, 0x89abcdef).tid(0x1122334455667788).bytes(),
                    Nanoseconds(1'000'000'123));
  trace.mad_on_wire(false, Qp::gsi, peer,
                    Mad::make(mad_class::subn_adm, 2, mad_method::get_resp, 0x0035).status(0x000c).tid(1).bytes(),
                    Nanoseconds(1'000'000'456));
  const auto rows = dissect(write(), kMadFields);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], (Row{"0x01", "0x04", "0x01", "0x01", "0x0000", "0x1122334455667788", "0x0012", "0x89abcdef"}));
  EXPECT_EQ(rows[1], (Row{"0x01", "0x03", "0x02", "0x81", "0x000c", "0x0000000000000001", "0x0035", "0x00000000"}));
}

TEST_F(Capture, ShowsWhereTheyWentAndWhen) {
  const Address peer{.lid = 0x1234, .sl = 5, .qpn = 1};
  const Mad mad = Mad::make(mad_class::perf, 1, mad_method::get, 0x0012);
  trace.mad_on_wire(true, Qp::gsi, peer, mad.bytes(), Nanoseconds(1'000'000'123));
  trace.mad_on_wire(false, Qp::gsi, peer, mad.bytes(), Nanoseconds(5'000'000'456));
  const auto rows = dissect(write(), {"infiniband.lrh.slid", "infiniband.lrh.dlid", "infiniband.lrh.sl",
                                      "infiniband.bth.destqp", "infiniband.deth.srcqp", "infiniband.deth.q_key",
                                      "frame.time_epoch", "frame.packet_flags_direction"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], (Row{"3", "4660", "5", "0x000001", "0x00000001", "0x0000000080010000", "1.000000123", "0x00000002"}));
  EXPECT_EQ(rows[1], (Row{"4660", "3", "5", "0x000001", "0x00000001", "0x0000000080010000", "5.000000456", "0x00000001"}));
}

TEST_F(Capture, ShowsDirectedRouteSmps) {
  Mad smp = Mad::make(mad_class::subn_directed, 1, mad_method::get, 0x0011).tid(0x0000000500000006);
  smp.hop_count(2).dr_slid(kPermissiveLid).dr_dlid(kPermissiveLid).initial_path(1, 1).initial_path(2, 9);
  trace.mad_on_wire(true, Qp::smi, {.lid = kPermissiveLid, .qpn = 0}, smp.bytes(), Nanoseconds(1));
  const auto rows = dissect(write(), {"infiniband.mad.mgmtclass", "infiniband.mad.transactionid", "infiniband.lrh.vl",
                                      "infiniband.lrh.slid", "infiniband.lrh.dlid", "infiniband.bth.destqp",
                                      "infiniband.smpdirected.drslid", "infiniband.smpdirected.initialpath"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0][0], "0x81");
  EXPECT_EQ(rows[0][1], "0x0000000500000006");
  EXPECT_EQ(rows[0][2], "0x0f") << "virtual lane 15 is management's";
  EXPECT_EQ(rows[0][3], "65535");
  EXPECT_EQ(rows[0][4], "65535");
  EXPECT_EQ(rows[0][5], "0x000000");
  EXPECT_EQ(rows[0][6], "0xffff");
  EXPECT_THAT(rows[0][7], HasSubstr("0001"));
}

TEST_F(Capture, ShowsGlobalRoutes) {
  Address peer{.lid = 9};
  peer.grh = GlobalRoute{.gid = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xd1, 0xde, 0, 0, 0, 9, 1}, .hop_limit = 7,
                         .traffic_class = 0x5a, .flow_label = 0x12345};
  const Mad mad = Mad::make(mad_class::perf, 1, mad_method::get, 0x0012).tid(42);
  trace.mad_on_wire(true, Qp::gsi, peer, mad.bytes(), Nanoseconds(1));
  trace.mad_on_wire(false, Qp::gsi, peer, mad.bytes(), Nanoseconds(2));
  const auto rows = dissect(write(), {"infiniband.grh.sgid", "infiniband.grh.dgid", "infiniband.grh.hoplmt",
                                      "infiniband.grh.tclass", "infiniband.grh.flowlabel", "infiniband.mad.transactionid"});
  ASSERT_EQ(rows.size(), 2u);
  const std::string own = "fe80::d1:de00:0:301", other = "fe80::d1:de00:0:901";
  EXPECT_EQ(rows[0][0], own);
  EXPECT_EQ(rows[0][1], other);
  EXPECT_EQ(rows[1][0], other);
  EXPECT_EQ(rows[1][1], own);
  EXPECT_EQ(rows[0][2], "7");
  EXPECT_EQ(rows[0][5], "0x000000000000002a");
}

TEST_F(Capture, HasNoMalformedPacket) {
  std::vector<int> classes{mad_class::subn_lid, mad_class::subn_directed};
  for (int c = mad_class::subn_adm; c <= mad_class::vendor2_last; ++c) classes.push_back(c);
  for (const int c : classes) {
    const auto mgmt_class = static_cast<uint8_t>(c);
    const bool smi = mgmt_class == mad_class::subn_lid || mgmt_class == mad_class::subn_directed;
    for (const uint8_t method : {mad_method::get, mad_method::set, mad_method::get_resp, mad_method::trap}) {
      Address peer{.lid = 7, .qpn = smi ? 0u : 1u};
      if (c % 3 == 0 && !smi) peer.grh = GlobalRoute{};
      trace.mad_on_wire(c % 2 == 0, smi ? Qp::smi : Qp::gsi, peer, Mad::make(mgmt_class, 1, method, 1).bytes(),
                        Nanoseconds(c));
    }
  }
  const std::string& path = write();
  EXPECT_EQ(dissect(path, {"infiniband.mad.mgmtclass"}, "infiniband.mad").size(), 4 * classes.size());
  EXPECT_TRUE(dissect(path, {"frame.number"}, "_ws.malformed or _ws.short or _ws.expert.severity >= warning").empty());
}

TEST_F(Capture, SaysHowManyMadsAreLost) {
  Trace small({.max_events = 10});
  for (int i = 0; i < 100; ++i) small.mad_on_wire(true, Qp::gsi, Address{}, Mad().tid(i).bytes(), Nanoseconds(i));
  const auto written = small.write_capture(file.path());
  EXPECT_EQ(written.value(), 10u);
  const auto rows = dissect(file.path(), {"infiniband.mad.transactionid"});
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_EQ(rows[0][0], "0x000000000000005a") << "the newest are kept";
  EXPECT_THAT(run("capinfos -k " + file.path()), testing::AnyOf(HasSubstr("90 earlier MADs"), ""));
}

TEST_F(Capture, CanBeTurnedOff) {
  Trace quiet({.capture_mads = false});
  quiet.mad_on_wire(true, Qp::gsi, Address{}, Mad().bytes(), Nanoseconds(1));
  EXPECT_EQ(quiet.write_capture(file.path()).value(), 0u);
  EXPECT_TRUE(dissect(file.path(), {"frame.number"}).empty());
}

}  // namespace
}  // namespace tidemill::test
