// SPDX-License-Identifier: MIT
// The Section that prints.
#include "config/detail/printing.h"

#include <algorithm>
#include <string_view>

#include "config/detail/text.h"
#include "config/section.h"

namespace corolane::config::detail {
namespace {

bool is_block(std::string_view text) { return text.starts_with('\n'); }

class SectionPrinter final : public Section {
 public:
  SectionPrinter(const std::string& path, const Printing& printing)
      : path_(path), printing_(printing) {}

  std::string take_text() { return text_.empty() ? "{}" : std::move(text_); }

 private:
  void visit(const Field& field) override {
    text_ += printing_.field(key_path(path_, field.key), field);
  }

  const std::string& path_;
  const Printing& printing_;
  std::string text_;
};

// Prints the same on one line, in braces.
class LinePrinter final : public Section {
 public:
  LinePrinter(const std::string& path, const Printing& printing)
      : path_(path), printing_(printing) {}

  std::string take_text() const { return "{" + join(fields_) + "}"; }

 private:
  void visit(const Field& field) override {
    fields_.push_back(std::string(field.key) + ": " +
                      printing_.value(key_path(path_, field.key), field.marks, field.value));
  }

  const std::string& path_;
  const Printing& printing_;
  std::vector<std::string> fields_;
};

// True for an empty value, which reveals no secret: the operator sees that nothing is set.
bool is_nothing(std::string_view printed) {
  return printed == R"("")" || printed == "null" || printed == "[]";
}

}  // namespace

Printing Printing::indented(Marks marks) const {
  Printing result = *this;
  result.marks_ = marks_ | marks;
  result.indent_ += 2;
  return result;
}

Printing Printing::element(std::size_t index) const {
  Printing result = indented();
  if (index > 0) result.explains_ = false;
  return result;
}

std::string Printing::list(const std::vector<std::string>& elements) const {
  if (!std::ranges::any_of(elements, is_block)) return "[" + join(elements) + "]";
  std::string text;
  for (const std::string& element : elements) {
    text += "\n" + std::string(indent_, ' ') + (is_block(element) ? "-" : "- ") + element;
  }
  return text;
}

std::string Printing::section(const std::string& path,
                              const std::function<void(Section&)>& describe) const {
  if (origins_ == nullptr) {
    LinePrinter section(path, *this);
    describe(section);
    return section.take_text();
  }
  SectionPrinter section(path, *this);
  describe(section);
  return section.take_text();
}

std::string Printing::value(const std::string& path, Marks marks, Value& value) const {
  const Printing inner = indented(marks);
  std::string printed = value.print(path, inner);
  const bool is_hidden =
      inner.marks_.is_secret && secrets_ == Secrets::hidden && !is_nothing(printed);
  return is_hidden ? std::string(hidden_text) : printed;
}

std::string Printing::field(const std::string& path, const Field& field) const {
  const std::string line_start = "\n" + std::string(indent_, ' ');
  std::string text;
  if (explains_) {
    const std::string allowed = field.value.allowed();
    const bool is_live = (marks_ | field.marks).is_live && !field.value.is_section();
    text.append(line_start).append("# ").append(field.help);
    if (!allowed.empty()) text.append(" Allowed: ").append(allowed).append(".");
    if (is_live) text.append(" Live.");
  }
  const std::string printed = value(path, field.marks, field.value);
  if (printed == hidden_text) {
    // A comment, so that loading the printed text yields the default, not a wrong secret.
    return text + line_start + "# " + std::string(field.key) + ": not shown, from " + origin(path);
  }
  text.append(line_start).append(field.key).append(":");
  if (is_block(printed)) return text + printed;
  return text + " " + printed + "  # " + origin(path);
}

std::string Printing::origin(const std::string& path) const {
  const auto found = origins_->find(path);
  return found == origins_->end() ? "default" : found->second;
}

}  // namespace corolane::config::detail
