// SPDX-License-Identifier: Apache-2.0
#include "device_tool/exposition.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

namespace tidemill::device_tool {
namespace {

/// `"text"` with its escapes, at the front of `rest`, which loses it.
std::optional<std::string> quoted(std::string_view& rest) {
  if (!rest.starts_with('"')) return std::nullopt;
  std::string text;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return text;
    }
    if (rest[i] == '\\' && ++i < rest.size())
      text += rest[i] == 'n' ? '\n' : rest[i];
    else if (i < rest.size())
      text += rest[i];
  }
  return std::nullopt;
}

/// name["{" label "=" quoted {"," ...} "}"] " " value
bool parse_sample(std::string_view rest, std::string& name, metrics::Sample& sample) {
  const std::size_t end = rest.find_first_of("{ ");
  if (end == std::string_view::npos) return false;
  name = rest.substr(0, end);
  rest.remove_prefix(end);
  if (rest.starts_with('{')) {
    do {
      rest.remove_prefix(1);
      const std::size_t equals = rest.find('=');
      if (equals == std::string_view::npos) return false;
      std::string label(rest.substr(0, equals));
      rest.remove_prefix(equals + 1);
      auto value = quoted(rest);
      if (!value) return false;
      sample.labels.emplace_back(std::move(label), std::move(*value));
    } while (rest.starts_with(','));
    if (!rest.starts_with('}')) return false;
    rest.remove_prefix(1);
  }
  if (!rest.starts_with(' ')) return false;
  rest.remove_prefix(1);
  const auto [stop, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), sample.value);
  return failed == std::errc() && stop == rest.data() + rest.size();
}

std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

/// Text and time of one file: what stands under the name is replaced all the time.
struct File {
  std::string text;
  std::chrono::system_clock::time_point written;
};
std::optional<File> read_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  File file;
  std::array<char, 16'384> chunk{};
  ssize_t got;
  while ((got = read(fd, chunk.data(), chunk.size())) > 0) file.text.append(chunk.data(), static_cast<size_t>(got));
  struct stat s {};
  const bool whole = got == 0 && fstat(fd, &s) == 0;
  close(fd);
  if (!whole) return std::nullopt;
  const auto since_epoch = std::chrono::seconds(s.st_mtim.tv_sec) + std::chrono::nanoseconds(s.st_mtim.tv_nsec);
  file.written = std::chrono::system_clock::time_point(since_epoch);
  return file;
}

}  // namespace

Result<metrics::Metrics> parse_exposition(const std::string& text) {
  metrics::Metrics m;
  std::map<std::string, std::string> types, helps;
  std::istringstream lines(text);
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) {
      const std::size_t end = line.find(' ', 7);
      if (end != std::string::npos) (line[2] == 'H' ? helps : types)[line.substr(7, end - 7)] = line.substr(end + 1);
      continue;
    }
    if (line.starts_with('#')) continue;
    std::string name;
    metrics::Sample sample;
    if (!parse_sample(line, name, sample))
      return Error{Errc::file_failed, fmt::format("line {}: '{}' is no sample of a metric", number, line)};
    m.add(name, types[name], helps[name], std::move(sample.labels), sample.value);
  }
  return m;
}

Result<Published> read_published(const std::string& path) {
  const auto file = read_file(path);
  if (!file)
    return Error{Errc::file_failed,
                 fmt::format("{}: nothing is published there; start the program that has the card with "
                             "TIDEMILL_METRICS={} in its environment",
                             path, path)};
  auto m = parse_exposition(file->text);
  if (!m) return Error{m.code(), fmt::format("{}: {}", path, m.error().message)};
  // A process that was killed leaves its file behind.
  const metrics::Metric* const info = m->find("tidemill_device_info");
  if (info == nullptr) return Error{Errc::file_failed, fmt::format("{}: no device has published there yet", path)};
  for (const auto& [label, value] : info->samples.front().labels)
    if (label == "pid" && !std::filesystem::exists("/proc/" + value))
      return Error{
          Errc::file_failed,
          fmt::format("{}: process {}, which published it, has ended without closing its device", path, value)};
  return Published{std::move(m).value(), file->written};
}

nlohmann::json to_json(const metrics::Metrics& m) {
  nlohmann::json all = nlohmann::json::object();
  for (const metrics::Metric& metric : m.all()) {
    nlohmann::json& out = all[metric.name];
    for (const metrics::Sample& s : metric.samples) {
      if (s.labels.empty()) {
        out = s.value;
        continue;
      }
      nlohmann::json labels = nlohmann::json::object();
      for (const auto& [label, value] : s.labels) labels[label] = value;
      out.push_back({{"labels", labels}, {"value", s.value}});
    }
  }
  return all;
}

std::string to_table(const metrics::Metrics& m) {
  std::string out;
  for (const metrics::Metric& metric : m.all()) {
    for (const metrics::Sample& s : metric.samples) {
      if (s.value == 0 && metric.samples.size() > 1) continue;
      std::string name = metric.name;
      if (name.starts_with("tidemill_")) name.erase(0, 9);
      if (name.ends_with("_total")) name.erase(name.size() - 6);
      std::replace(name.begin(), name.end(), '_', ' ');
      std::string labels;
      for (const auto& [label, value] : s.labels)
        labels += fmt::format("{}{} {}", labels.empty() ? "" : ", ", label, value);
      out += fmt::format("{:<28} {:>14}  {}\n", name, grouped(s.value), labels);
    }
  }
  return out;
}

}  // namespace tidemill::device_tool
