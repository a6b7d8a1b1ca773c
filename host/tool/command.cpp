// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

namespace tidemill::tool {
namespace {

/// Insertions, deletions and replacements that make one word of another.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({row[j + 1] + 1, row[j] + 1, diagonal + (a[i] != b[j] ? 1 : 0)}));
  }
  return row.back();
}

/// The name most like `word`, if one is like it at all.
std::optional<std::string> likely(const std::string& word, const std::vector<std::string>& names) {
  const auto best = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return distance(word, a) < distance(word, b);
  });
  if (best == names.end() || distance(word, *best) > std::max<size_t>(2, word.size() / 3)) return std::nullopt;
  return *best;
}

std::string unknown_word(const CLI::App& app, const CLI::App* sub, const std::string& word) {
  const bool option = word.starts_with("-");
  // A subcommand may have some of its own.
  const CLI::App& scope = sub != nullptr ? *sub : app;
  const auto subcommands = scope.get_subcommands([](const CLI::App*) { return true; });
  std::vector<std::string> names;
  if (option) {
    for (const CLI::Option* o : scope.get_options()) {
      for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* s : subcommands) names.push_back(s->get_name());
  }
  std::string text = option                ? fmt::format("unknown option {}", word)
                     : !subcommands.empty() ? fmt::format("unknown subcommand {}", word)
                                            : fmt::format("unexpected argument {}", word);
  if (const auto name = likely(word.substr(0, word.find('=')), names)) text += fmt::format("; did you mean {}?", *name);
  return text;
}

/// What is wrong, with the option named and the way out.
std::string explain(const CLI::App& app, const CLI::App* sub, const CLI::ParseError& error, int argc, const char* const* argv) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return fmt::format("{} needs a value", text.substr(0, text.find(':')));
  std::vector<std::string> extras = app.remaining(true);
  if (sub == nullptr && extras.empty()) extras.assign(argv + 1, argv + argc);
  const bool verbs = sub != nullptr && !sub->get_subcommands([](const CLI::App*) { return true; }).empty();
  const bool unknown = sub == nullptr || verbs || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  return unknown && !extras.empty() ? unknown_word(app, sub, extras.front()) : text;
}

/// What follows "--" goes to the subcommand's hidden --program, word by word, and not to its own arguments.
std::vector<std::string> with_program(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const auto subs = app.get_subcommands([&words](const CLI::App* s) { return !words.empty() && s->check_name(words.front()); });
  if (dashes == words.end() || subs.empty() || subs.front()->get_option_no_throw("--program") == nullptr) return words;
  for (auto word = words.erase(dashes); word != words.end(); ++word) word->insert(0, "--program=");
  return words;
}

}  // namespace

int run_command(int argc, const char* const* argv, const std::vector<AddSubcommand>& subcommands) {
  CLI::App app("Tidemill: the InfiniBand MAD layer as an engine for SmartNICs.", "tidemill");
  app.require_subcommand(1);
  app.footer("Each subcommand explains itself: tidemill soak --help");
  int status = kSuccess;
  for (const AddSubcommand& add : subcommands) add(app, status);

  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return kUsageError;
  }
  std::string name = "tidemill";
  const auto chosen = [&]() -> const CLI::App* {
    const CLI::App* sub = nullptr;
    for (auto parsed = app.get_subcommands(); !parsed.empty(); parsed = sub->get_subcommands()) {
      sub = parsed.front();
      name += " " + sub->get_name();
    }
    return sub;
  };
  try {
    std::vector<std::string> words = with_program(app, argc, argv);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(words);
    return status;
  } catch (const CLI::Success& wish) {  // --help and the like
    return app.exit(wish);
  } catch (const CLI::ParseError& error) {
    const CLI::App* sub = chosen();
    fmt::print(stderr, "{}: {}\n{} --help lists what it takes\n", name, explain(app, sub, error, argc, argv), name);
    return kUsageError;
  }
}

}  // namespace tidemill::tool
