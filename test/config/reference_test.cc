// SPDX-License-Identifier: MIT
// Claims about the reference of all keys.
#include "config/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/config/inn_config.h"

namespace corolane::config {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct TownConfig {
  inn::InnConfig inn;
};

void describe(Section& section, TownConfig& value) {
  section.field("inn", value.inn, "The one inn.");
}

TEST(ReferenceTest, ASectionIsATableOfItsKeys) {
  const std::string text = reference<TownConfig>();
  EXPECT_THAT(text, StartsWith("Units are part of a value."));
  EXPECT_THAT(text, HasSubstr("\n## `inn`\nThe one inn.\n\n"
                              "| key | type | default | allowed | live | what |\n"
                              "|---|---|---|---|---|---|\n"
                              "| `sign` | text | `\"The Inn\"` |  | live | Above the door. |\n"));
  EXPECT_THAT(text, HasSubstr("\n## `inn.kitchen`\nWhere they cook.\n\n"));
  EXPECT_THAT(text, HasSubstr("\n| `pans` | integer | `3` | at least 0 | live | What hangs "));
}

TEST(ReferenceTest, AnElementOfAListIsASection) {
  const std::string text = reference<TownConfig>();
  EXPECT_THAT(text, HasSubstr("\n| `rooms` | list of section | `[]` |  | live | Upstairs. |\n"));
  EXPECT_THAT(text, HasSubstr("\n## `inn.rooms[]`\nUpstairs.\n\n"));
  EXPECT_THAT(text, HasSubstr("\n| `beds` | integer | `2` | between 1 and 9 | live | Who sleeps "));
}

TEST(ReferenceTest, SecretsAndBarsAreMarked) {
  const std::string text = reference<TownConfig>();
  EXPECT_THAT(text, HasSubstr("| `pin` | integer or null, secret | `null` | at most 9999 | | "));
  EXPECT_THAT(text, HasSubstr("Of an egg \\| hard."));
}

}  // namespace
}  // namespace corolane::config
