// SPDX-License-Identifier: Apache-2.0
/// The page of charts: one file without anything outside it.
#include <fmt/format.h>

#include <algorithm>

#include "charts.hpp"
#include "host/tool/page/page.hpp"
#include "report.hpp"

namespace tidemill::soak {
namespace {

using page::escaped;
using page::kStyle;
using page::Page;

void head(Page& page, const Result& result) {
  page.add("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">");
  page.add("<title>Tidemill soak, seed {}</title><style>{}</style><main>", result.options.seed, kStyle);
  page.add("<header><h1>Tidemill soak</h1><span class=\"pill {}\">{}</span><span class=\"soft\">seed {}, {} banks of a {} engine, {} agents</span></header>",
           result.passed() ? "good" : "bad", result.passed() ? "passed" : "failed", result.options.seed, result.options.banks,
           name_of(result.options.size), result.options.agents);
  if (result.passed()) return;
  page.add("<section><h2>Broken rules</h2><ul>");
  for (const std::string& violation : result.violations) page.add("<li><code>{}</code></li>", escaped(violation));
  page.add("</ul></section><br>");
}

void tiles(Page& page, const Report& report) {
  const Tally& tally = report.result.tally;
  page.add("<div class=\"tiles\">");
  page.tile(grouped(tally.completed), fmt::format("of {} sends completed", grouped(tally.posted)));
  page.tile(grouped(tally.mads()), "MADs on the wire, both ways");
  page.tile(grouped(static_cast<uint64_t>(report.mads_per_second())), "MADs/s, host model and checks included");
  page.tile(grouped(report.result.counters.retried), "tries again");
  page.tile(grouped(report.result.ticks), fmt::format("ticks, {:.1f} ms of a card", report.result.ticks * kTickSeconds * 1e3));
  page.add("</div>");
}

void charts(Page& page, const Tally& tally) {
  page.chart("Outstanding sends over time", "Accepted and not completed, the most in each interval, until the last post.",
             series_chart(tally.outstanding, tally.last_post, "Outstanding sends over time"));
  page.chart("From post to completion",
             fmt::format("Answered sends: half within {} ticks, 99 % within {}, 99.9 % within {}, longest {}."
                         "<span class=\"key\" style=\"background:var(--success)\"></span>answered"
                         "<span class=\"key\" style=\"background:var(--timeout)\"></span>not answered",
                         tally.answered.percentile(0.5), tally.answered.percentile(0.99), tally.answered.percentile(0.999),
                         tally.answered.longest()),
             histogram_chart(tally.answered, tally.given_up, "Time from post to completion"));
  std::vector<NamedCount> statuses, causes;
  uint64_t dropped = 0;
  for (unsigned i = 0; i < abi::kStatusCount; ++i) {
    const char* name = name_of(static_cast<abi::Status>(i));
    statuses.push_back({name, tally.by_status[i], name});
  }
  for (unsigned i = 1; i < abi::kCauseCount; ++i) {
    if (tally.dropped[i] != 0) causes.push_back({name_of(static_cast<abi::Cause>(i)), tally.dropped[i], "flushed"});
    dropped += tally.dropped[i];
  }
  std::sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  page.add("<div class=\"pair\">");
  page.chart("Completions by status", "Every accepted send has exactly one.", bar_chart(statuses, "Completions by status"));
  page.chart("Responses dropped by cause", fmt::format("{} of {} MADs received matched nothing.", grouped(dropped), grouped(tally.mads_in)),
             bar_chart(causes, "Responses dropped by cause"));
  page.add("</div>");
}

void tables(Page& page, const Result& result) {
  page.add("<div class=\"pair\"><section><h2>Faults on purpose</h2><table>");
  for (const FaultInfo& fault : kFaults) page.add("<tr><td>{}</td><td>{}</td></tr>", fault.name, grouped(result.tally.faults.*fault.count));
  page.add("</table></section><section><h2>Events that named nothing live</h2><p class=\"soft\">Refused and counted; no send is harmed by them.</p><table>");
  for (unsigned i = 1; i < abi::kCauseCount; ++i) {
    if (result.counters.rejected[i] != 0)
      page.add("<tr><td>{}</td><td>{}</td></tr>", name_of(static_cast<abi::Cause>(i)), grouped(result.counters.rejected[i]));
  }
  page.add("</table><h2 style=\"margin-top:16px\">This run again</h2><p><code>{}</code></p>", escaped(replay_command(result.options, result.tally.posted)));
  page.add("<p class=\"soft\">Fingerprint of all completions: <code>{:016x}</code></p></section></div></main>", result.tally.fingerprint);
}

}  // namespace

std::string html_report(const Report& report) {
  Page page;
  head(page, report.result);
  tiles(page, report);
  charts(page, report.result.tally);
  tables(page, report.result);
  return page.take();
}

}  // namespace tidemill::soak
