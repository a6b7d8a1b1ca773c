// SPDX-License-Identifier: Apache-2.0
/// Pages of charts: one file without anything outside it, light and dark.
#pragma once
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace tidemill::page {

inline constexpr const char* kStyle = R"(
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

inline std::string escaped(const std::string& text) {
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

}  // namespace tidemill::page
