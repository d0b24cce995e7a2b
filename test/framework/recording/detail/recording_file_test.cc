// SPDX-License-Identifier: MIT
// Recordings as files: their content, and what survives the end of the writer.
#include "framework/recording/detail/recording_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"

namespace corolane::framework::recording {
namespace {

using test::fails_with;
using testing::HasSubstr;

constexpr std::size_t size_max = 1 << 20;

class RecordingFileTest : public testing::Test {
 protected:
  std::unique_ptr<RecordingWriter> create(std::size_t size = size_max) {
    Header header;
    header.set_config("node:\n  name: lobby\n");
    auto file = RecordingWriter::create(path_, size, header);
    EXPECT_TRUE(file) << file.error();
    return *std::move(file);
  }

  struct Content {
    std::vector<Entry> entries;
    bool is_damaged = false;
  };
  Content read() const {
    Content content;
    auto file = RecordingReader::open(path_);
    EXPECT_TRUE(file) << file.error();
    EXPECT_EQ((*file)->header().config(), "node:\n  name: lobby\n");
    for (;;) {
      auto entry = (*file)->next();
      content.is_damaged = !entry;
      if (!entry || !*entry) return content;
      content.entries.push_back(**entry);
    }
  }

  static Entry drawn(std::size_t size) {
    Entry entry;
    entry.set_drawn(std::string(size, 'x'));
    return entry;
  }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "recording";
};

TEST_F(RecordingFileTest, HasTheEntriesThatWereAdded) {
  {
    const auto file = create();
    for (std::size_t size = 0; size < 300; ++size) file->add(drawn(size));
    file->end("");
    file->add(drawn(1));
  }
  const Content content = read();
  ASSERT_EQ(content.entries.size(), 301u);
  for (std::size_t size = 0; size < 300; ++size) {
    EXPECT_EQ(content.entries[size].drawn().size(), size);
  }
  EXPECT_TRUE(content.entries.back().has_end());
  EXPECT_LT(std::filesystem::file_size(path_), 60'000u) << "it gives back what it did not use";
}

TEST_F(RecordingFileTest, NamesItsProgram) {
  create();
  auto file = RecordingReader::open(path_);
  ASSERT_TRUE(file) << file.error();
  EXPECT_THAT((*file)->program(), testing::EndsWith("/framework_test"));
}

TEST_F(RecordingFileTest, IsForItsOwnerAlone) {
  create();
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(RecordingFileTest, KeepsItsBeginningAndReportsThatItIsFull) {
  const auto file = create(64 * 1024);
  for (int i = 0; i < 100; ++i) file->add(drawn(1'000));
  EXPECT_TRUE(file->has_ended());
  const Content content = read();
  EXPECT_GT(content.entries.size(), 60u);
  EXPECT_LT(content.entries.size(), 66u);
  EXPECT_EQ(content.entries.back().end().reason(), "the file is full");
}

// Read while its writer is alive: the state that a killed process leaves.
TEST_F(RecordingFileTest, IsCompleteUpToTheEndOfADeadProcess) {
  const auto file = create();
  for (int i = 0; i < 10; ++i) file->add(drawn(100));
  const Content content = read();
  EXPECT_EQ(content.entries.size(), 10u);
  EXPECT_FALSE(content.is_damaged);
}

TEST_F(RecordingFileTest, ATruncatedFileYieldsItsCompleteEntries) {
  {
    const auto file = create();
    for (int i = 0; i < 10; ++i) file->add(drawn(100));
  }
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 50);
  EXPECT_EQ(read().entries.size(), 9u);
}

TEST_F(RecordingFileTest, AnInvalidEntryIsDamage) {
  {
    const auto file = create();
    file->add(drawn(100));
  }
  std::ofstream(path_, std::ios::app) << "\x03" << "abc";
  EXPECT_TRUE(read().is_damaged);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 4);
  std::ofstream(path_, std::ios::app) << std::string(8, '\xff');
  EXPECT_TRUE(read().is_damaged);
}

TEST_F(RecordingFileTest, TheRecordingOfACrashIsKeptAcrossCleanRuns) {
  create()->add(drawn(1));
  create()->end("");
  EXPECT_EQ(read().entries.size(), 1u);
  create()->end("");
  std::filesystem::rename(path_ + ".previous", path_);
  EXPECT_EQ(read().entries.at(0).drawn(), "x");
}

TEST_F(RecordingFileTest, AFileThatIsNotARecordingIsNotReplaced) {
  std::ofstream(path_) << "the only copy of something";
  EXPECT_THAT(RecordingWriter::create(path_, size_max, Header()), fails_with(Code::already_exists));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(RecordingWriter::create(path_, size_max, Header()), fails_with(Code::already_exists));
}

TEST_F(RecordingFileTest, AFileThatIsNotARecordingIsRefusedWithAHint) {
  EXPECT_THAT(RecordingReader::open(path_), fails_with(Code::not_found));
  std::ofstream(path_) << "node:\n  name: lobby\n  listen: 127.0.0.1:8460\n";
  const auto file = RecordingReader::open(path_);
  ASSERT_THAT(file, fails_with(Code::invalid_argument));
  EXPECT_THAT(file.error().message(), HasSubstr("node.record.file makes one"));
  std::ofstream(path_) << "corolane recording 1 /bin/x\n";
  EXPECT_THAT(RecordingReader::open(path_), fails_with(Code::invalid_argument));
}

TEST_F(RecordingFileTest, WithoutDiskSpaceNoFileIsCreated) {
  EXPECT_THAT(RecordingWriter::create(path_, std::size_t{1} << 60, Header()),
              fails_with(Code::resource_exhausted));
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_THAT(RecordingWriter::create(path_ + "/x/y", size_max, Header()),
              fails_with(Code::not_found));
}

}  // namespace
}  // namespace corolane::framework::recording
