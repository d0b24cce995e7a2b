// A recording as a file: bounded, and whole up to the moment at which its process died.
//
//   auto file = RecordingWriter::create("chess.recording", 64 << 20, header);
//   if (!file) return file.error();
//   file->add(entry);
//
// The file has its whole size from the beginning, and is memory of the process: what was added is
// in it whatever becomes of the process, and no disk runs full under it. It holds all that clients
// have sent, and the passwords of the configuration: nobody but its owner may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "coroutine/base/result.h"
#include "framework/recording/recording.pb.h"

namespace corolane::framework::recording {

// "4f2e65bb...", as bytes: of this program, by its linker. Empty when that has left none.
std::string own_build_id();

class RecordingWriter {
 public:
  // A recording of that name becomes NAME.previous first, unless its node ended well: then it is
  // replaced, so that what a crash has left outlives those who come after it. Blocks. Fails with
  // already_exists when there is something else, with resource_exhausted when there is no room on
  // the disk, with not_found or permission_denied.
  static Result<std::unique_ptr<RecordingWriter>> create(const std::string& path,
                                                         std::size_t size_max,
                                                         const Header& header);
  // Gives back what was not used of the file.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  // Does nothing when it has ended. Ends it when the entry does not fit any more; never blocks.
  void add(const Entry& entry);
  // Nothing more is added.
  void end(const std::string& reason);
  bool has_ended() const { return has_ended_; }

  std::size_t size() const { return size_; }
  std::uint64_t entry_count() const { return entry_count_; }

 private:
  RecordingWriter(int file, std::byte* bytes, std::size_t size_max);
  bool put(const google::protobuf::MessageLite& message, std::size_t kept);

  const int file_;
  std::byte* const bytes_;
  const std::size_t size_max_;
  std::size_t size_ = 0;
  std::uint64_t entry_count_ = 0;
  bool has_ended_ = false;
};

class RecordingReader {
 public:
  // Blocks. Fails with not_found, or with invalid_argument when it is no recording.
  static Result<std::unique_ptr<RecordingReader>> open(const std::string& path);

  // That was recorded: the path of its file.
  const std::string& program() const { return program_; }
  const Header& header() const { return header_; }

  // Nothing at the end of the file; data_loss when what follows is no entry.
  Result<std::optional<Entry>> next();

 private:
  RecordingReader() = default;

  std::ifstream file_;
  std::string program_;
  Header header_;
};

}  // namespace corolane::framework::recording
