// SPDX-License-Identifier: MIT
// Claims about config/detail/document.h.
#include "config/detail/document.h"

#include <gtest/gtest.h>

#include <string>

namespace corolane::config::detail {
namespace {

// Joins all problems of a text into one string.
std::string problems_of(std::string_view text) {
  std::vector<Problem> problems;
  const auto document = parse_document(text, {.source = "f.yaml", .line = 1}, problems);
  EXPECT_TRUE(document || !problems.empty()) << "a text without a tree has a problem";
  std::string lines;
  for (const Problem& problem : problems) {
    lines += problem.place.to_string() + ": " + problem.message + "\n";
  }
  return lines;
}

SourceNode parsed(std::string_view text) {
  std::vector<Problem> problems;
  auto document = parse_document(text, {.source = "f.yaml", .line = 1}, problems);
  EXPECT_TRUE(document) << text;
  EXPECT_TRUE(problems.empty()) << problems.front().message;
  return document ? *std::move(document) : SourceNode{};
}

TEST(DocumentTest, SectionsListsAndScalarsBecomeNodes) {
  SourceNode root = parsed("a: 1\nb:\n  c: [x, \"y z\"]\n  d:\n");
  ASSERT_EQ(root.kind, SourceNode::Kind::section);
  EXPECT_EQ(root.find("a")->text, "1");
  EXPECT_EQ(root.find("missing"), nullptr);
  SourceNode* const b = root.find("b");
  ASSERT_NE(b, nullptr);
  SourceNode* const c = b->find("c");
  ASSERT_EQ(c->kind, SourceNode::Kind::list);
  EXPECT_EQ(c->children.at(1).text, "y z");
  EXPECT_EQ(c->place.to_string(), "f.yaml:3");
  EXPECT_EQ(b->find("d")->kind, SourceNode::Kind::nothing);
}

TEST(DocumentTest, TextWithoutContentIsNothing) {
  for (const char* text : {"", "\n", "# a comment\n", "---\n", "\xef\xbb\xbf", "null\n"}) {
    EXPECT_EQ(parsed(text).kind, SourceNode::Kind::nothing) << text;
  }
}

TEST(DocumentTest, WindowsLineEndsAndBlockTextAreFine) {
  SourceNode root = parsed("a: 1\r\nb: |\r\n  one\r\n  two\r\n");
  EXPECT_EQ(root.find("a")->text, "1");
  EXPECT_EQ(root.find("b")->text, "one\ntwo\n");
  EXPECT_EQ(parsed("a: |+\n  kept\n\n").find("a")->text, "kept\n\n");
}

TEST(DocumentTest, QuotedNullIsText) {
  SourceNode root = parsed("a: null\nb: \"null\"\nc: ~\n");
  EXPECT_EQ(root.find("a")->kind, SourceNode::Kind::nothing);
  EXPECT_EQ(root.find("b")->kind, SourceNode::Kind::text);
  EXPECT_EQ(root.find("c")->kind, SourceNode::Kind::nothing);
}

TEST(DocumentTest, DuplicateKeysAreReportedWithBothLines) {
  EXPECT_EQ(problems_of("a: 1\nb: 2\na: 3\n\"b\": 4\n"),
            "f.yaml:3: key \"a\" is given twice, first in line 1\n"
            "f.yaml:4: key \"b\" is given twice, first in line 2\n");
}

TEST(DocumentTest, AKeyThatIsNotTextIsReported) {
  EXPECT_EQ(problems_of("a: 1\n? [x]\n: 2\n{b: 1}: 3\n"),
            "f.yaml:2: a key has to be text, such as rooms_max\n"
            "f.yaml:4: a key has to be text, such as rooms_max\n");
}

TEST(DocumentTest, AnchorsAliasesAndTagsAreReported) {
  const std::string sharing =
      "anchors (&) and aliases (*) are not supported; write the value out\n";
  EXPECT_EQ(problems_of("a: &x [1]\nb: *x\nc: !!str 5\n"),
            "f.yaml:1: " + sharing + "f.yaml:2: " + sharing +
                "f.yaml:3: tags are not supported, read \"tag:yaml.org,2002:str\"; leave it out\n");
  EXPECT_EQ(problems_of("a: 1\nb: *nobody\n"), "f.yaml:2: " + sharing);
}

TEST(DocumentTest, AliasBombsAreNotExpanded) {
  std::string text = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 64; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i);
    text.append(name).append(": &").append(name);
    text.append(" [").append(below).append(", ").append(below).append("]\n");
  }
  const std::string problems = problems_of(text);
  EXPECT_EQ(std::ranges::count(problems, '\n'), 1 + 63 * 3);
}

TEST(DocumentTest, NestingIsBounded) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(problems_of(nested(nesting_max)), "");
  EXPECT_EQ(problems_of(nested(nesting_max + 1)),
            "f.yaml:1: cannot be parsed: nested deeper than 32 levels\n");
  for (const std::string part : {"[", "{", "- ", "? ", ": ", "{a: ", "[{"}) {
    std::string bomb;
    for (int i = 0; i < 100'000; ++i) bomb += part;
    EXPECT_TRUE(problems_of(bomb).ends_with("cannot be parsed: nested deeper than 32 levels\n"))
        << part;
  }
}

TEST(DocumentTest, DeepIndentationIsReportedWhereItGetsTooDeep) {
  std::string text;
  for (std::size_t i = 0; i < 500; ++i) text += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(problems_of(text), "f.yaml:33: cannot be parsed: nested deeper than 32 levels\n");
}

TEST(DocumentTest, SizeIsBounded) {
  EXPECT_EQ(problems_of(std::string(document_size_bytes_max, '#')), "");
  EXPECT_EQ(problems_of(std::string(document_size_bytes_max + 1, '#')),
            "f.yaml:1: larger than 1MiB, the maximum size of a configuration\n");
}

TEST(DocumentTest, ASecondDocumentIsReported) {
  const std::string complaint =
      "not part of the document above: a wrong indentation, or a second \"---\"\n";
  EXPECT_EQ(problems_of("a: 1\n---\nb: 2\n"), "f.yaml:2: " + complaint);
  EXPECT_EQ(problems_of("  a: 1\nb: 2\n"), "f.yaml:2: " + complaint);
  EXPECT_EQ(problems_of("---\na: 1\n...\n"), "");
}

TEST(DocumentTest, SyntaxErrorsHaveTheirLine) {
  EXPECT_EQ(problems_of("a: 1\nb: c: d\n"), "f.yaml:2: cannot be parsed: illegal map value\n");
  EXPECT_EQ(problems_of("a: [1,\n"),
            "f.yaml:1: cannot be parsed: end of sequence flow not found\n");
  EXPECT_EQ(problems_of("a: @x"), "f.yaml:1: cannot be parsed: unknown token\n");
}

TEST(DocumentTest, UnclosedQuotesDoNotSwallowTheFile) {
  const std::string complaint = "a quoted text that begins here or below is never closed\n";
  EXPECT_EQ(problems_of("a: 1\nb: \"x\nc: 2\n"), "f.yaml:2: " + complaint);
  EXPECT_EQ(problems_of("a: 1\nb: 'x\nc: 2"), "f.yaml:2: " + complaint);
}

TEST(DocumentTest, TabsInTheIndentationAreReported) {
  EXPECT_EQ(problems_of("a:\n\tb: 1\n"), "f.yaml:2: a tab in the indentation; YAML wants spaces\n");
  EXPECT_EQ(problems_of("a:\n  b:\t1  \t# fine\n"), "");
}

TEST(DocumentTest, BytesThatAreNotTextAreReported) {
  EXPECT_EQ(problems_of("a: 1\nb: \xff\n"), "f.yaml:2: this line is not UTF-8\n");
  const std::string hint = "; write it as an escape in double quotes\n";
  EXPECT_EQ(problems_of("a: 1\x04\nb: [\n"), "f.yaml:1: a control character" + hint);
  EXPECT_EQ(problems_of(std::string_view("a: \0", 4)), "f.yaml:1: a control character" + hint);
  EXPECT_EQ(problems_of("a: 1\rb: 2\n"), "f.yaml:1: a control character" + hint);
}

TEST(DocumentTest, PlacesWithoutLinesStayWithoutLines) {
  std::vector<Problem> problems;
  EXPECT_TRUE(parse_document("{a: 1, a: 2}", {.source = "--set x"}, problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].place.to_string(), "--set x");
  EXPECT_EQ(problems[0].message, "key \"a\" is given twice");
}

}  // namespace
}  // namespace corolane::config::detail
