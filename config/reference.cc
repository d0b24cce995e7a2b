// SPDX-License-Identifier: MIT
// The Section that writes a table of its keys, followed by those of its inner sections.
#include "config/reference.h"

#include <string_view>

namespace corolane::config::detail {
namespace {

constexpr std::string_view legend =
    "Units are part of a value. duration: `ns`, `us`, `ms`, `s`, `min`, `h`, `d`, as in `1.5h`. "
    "bytes: `B`, `KiB`, `MiB`, `GiB`, `KB`, `MB`, `GB`, as in `64KiB`. Only `0` needs no unit.\n\n"
    "Live keys change with a reload, all others at the next start. Secrets are never shown.\n";

constexpr std::string_view table_head =
    "| key | type | default | allowed | live | what |\n"
    "|---|---|---|---|---|---|\n";

// Escapes bars, which would end the column.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

class ReferenceWriter final : public Section {
 public:
  ReferenceWriter(const std::string& path, Marks marks) : path_(path), marks_(marks) {}

  // The table of the section with `help` above it, followed by its inner sections.
  std::string text(std::string_view help) const {
    std::string text;
    if (!rows_.empty()) {
      text.append("\n## `").append(path_).append("`\n").append(help).append("\n\n");
      text.append(table_head).append(rows_);
    }
    return text + sections_;
  }

 private:
  void visit(const Field& field) override {
    const std::string path = key_path(path_, field.key);
    const Marks marks = marks_ | field.marks;
    const auto add_section = [&](const std::string& inner_path, const auto& describe) {
      ReferenceWriter inner(inner_path, marks);
      describe(inner);
      sections_ += inner.text(field.help);
    };
    if (field.value.is_section()) return field.value.visit_sections(path, add_section);
    add_row(path, marks, field);
    field.value.visit_example(path, add_section);
  }

  void add_row(const std::string& path, Marks marks, const Field& field) {
    const std::string shown = Printing(nullptr, Secrets::shown).value(path, marks, field.value);
    rows_.append("| `").append(field.key).append("` | ").append(field.value.type());
    if (marks.is_secret) rows_.append(", secret");
    rows_.append(" | `").append(cell(shown)).append("` | ").append(cell(field.value.allowed()));
    rows_.append(marks.is_live ? " | live | " : " | | ").append(cell(field.help)).append(" |\n");
  }

  const std::string& path_;
  const Marks marks_;
  std::string rows_;
  std::string sections_;
};

}  // namespace

std::string reference_of(Value& root) {
  std::string text(legend);
  root.visit_sections("", [&](const std::string& path, const auto& describe) {
    ReferenceWriter writer(path, {});
    describe(writer);
    text += writer.text("");
  });
  return text;
}

}  // namespace corolane::config::detail
