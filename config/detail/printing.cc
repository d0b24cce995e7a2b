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
  void visit(std::string_view key, std::string_view help, Value& value) override {
    text_ += printing_.field(key_path(path_, key), key, help, value);
  }

  const std::string& path_;
  const Printing& printing_;
  std::string text_;
};

}  // namespace

Printing Printing::indented() const {
  Printing result = *this;
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
  SectionPrinter section(path, *this);
  describe(section);
  return section.take_text();
}

std::string Printing::field(const std::string& path, std::string_view key, std::string_view help,
                            Value& value) const {
  const std::string line_start = "\n" + std::string(indent_, ' ');
  std::string text;
  if (explains_) {
    const std::string allowed = value.allowed();
    text.append(line_start).append("# ").append(help);
    if (!allowed.empty()) text.append(" Allowed: ").append(allowed).append(".");
  }
  text.append(line_start).append(key).append(":");
  const std::string printed = value.print(path, indented());
  if (is_block(printed)) return text + printed;
  const auto origin = origins_.find(path);
  return text + " " + printed + "  # " + (origin == origins_.end() ? "default" : origin->second);
}

}  // namespace corolane::config::detail
