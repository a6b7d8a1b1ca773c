// SPDX-License-Identifier: Apache-2.0
/// The page of charts: one file without anything outside it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "charts.hpp"
#include "report.hpp"

namespace tidemill::soak {
namespace {

constexpr const char* kStyle = R"(
:root { --paper:#f6f8f9; --card:#fff; --ink:#16242c; --soft:#5b6b74; --line:#dfe6e9; --good:#0f766e; --bad:#b42318;
  --success:#0d8a80; --timeout:#d9822b; --deadline:#b7791f; --flushed:#64748b; --error:#c2372c; --duplicate:#7c5cbf; }
@media (prefers-color-scheme: dark) { :root { --paper:#0f171b; --card:#172228; --ink:#e3ecf0; --soft:#93a5ae; --line:#2a3940;
  --good:#2dd4bf; --bad:#f97066; --success:#2bb3a6; --timeout:#e69a4c; --deadline:#d1a23a; --flushed:#8597a8; --error:#e5675c; --duplicate:#a78bea; } }
* { box-sizing:border-box } body { margin:0; background:var(--paper); color:var(--ink); font:15px/1.5 system-ui,"DejaVu Sans",sans-serif }
main { max-width:1000px; margin:0 auto; padding:28px 20px 48px } h1 { font-size:24px; margin:0 } h2 { font-size:16px; margin:0 0 2px }
p { margin:0 } .soft { color:var(--soft); font-size:13px; margin-bottom:8px }
header { display:flex; gap:14px; align-items:baseline; flex-wrap:wrap; margin-bottom:16px }
.pill { padding:1px 12px; border-radius:99px; color:#fff; font-weight:600 } .good { background:var(--good) } .bad { background:var(--bad) }
@media (prefers-color-scheme: dark) { .pill { color:#0f171b } }
section { background:var(--card); border:1px solid var(--line); border-radius:10px; padding:16px 18px; margin-top:14px }
.tiles { display:grid; grid-template-columns:repeat(auto-fit,minmax(150px,1fr)); gap:14px } .tiles section { margin:0; padding:12px 16px }
.tiles b { display:block; font-size:22px; font-variant-numeric:tabular-nums; line-height:1.3 }
.pair { display:grid; grid-template-columns:repeat(auto-fit,minmax(380px,1fr)); gap:14px } .pair section { margin-top:14px }
svg { width:100%; height:auto; display:block } svg text { font-size:12px; fill:var(--ink) } svg .tick { fill:var(--soft); font-size:11.5px }
svg .number { fill:var(--soft) } .end { text-anchor:end } .middle { text-anchor:middle } .grid { stroke:var(--line) } .axis { stroke:var(--soft) }
.area { fill:var(--success); fill-opacity:.3; stroke:var(--success); stroke-width:1.5 }
.success { fill:var(--success) } .timeout { fill:var(--timeout) } .deadline { fill:var(--deadline) } .flushed { fill:var(--flushed) }
.error { fill:var(--error) } .duplicate { fill:var(--duplicate) } .key { display:inline-block; width:11px; height:11px; border-radius:2px; margin:0 5px 0 12px }
table { border-collapse:collapse; width:100%; font-size:14px } td { padding:3px 0; border-top:1px solid var(--line) } tr:first-child td { border:0 }
td:last-child { text-align:right; font-variant-numeric:tabular-nums } code { font:13px ui-monospace,"DejaVu Sans Mono",monospace; overflow-wrap:anywhere }
li code { color:var(--bad) })";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      default: out += c;
    }
  }
  return out;
}

class Page {
 public:
  template <class... Parts>
  void add(fmt::format_string<Parts...> text, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<Parts>(parts)...);
    text_ += '\n';
  }
  void tile(const std::string& value, const std::string& name) {
    add("<section><b>{}</b><span class=\"soft\">{}</span></section>", value, name);
  }
  void chart(const std::string& title, const std::string& note, const std::string& svg) {
    add("<section><h2>{}</h2><p class=\"soft\">{}</p>{}</section>", title, note, svg);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

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
