// SPDX-License-Identifier: MIT
// The file of a recording: bounded, and complete up to the moment at which its process died.
//
//   auto file = RecordingWriter::create("chess.recording", 64 << 20, header);
//   if (!file) return file.error();
//   file->add(entry);
//
// The file is allocated at its full size and memory-mapped: added entries survive a crash of the
// process, and the disk cannot run full meanwhile. It contains all input of clients and the
// passwords of the configuration, so only its owner may read it.
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

class RecordingWriter {
 public:
  // An existing recording is renamed to NAME.previous, so the recording of a crash survives a
  // restart; after a clean end it is replaced. Blocks. Fails with already_exists when the file is
  // not a recording, with resource_exhausted when the disk is full, with not_found or
  // permission_denied.
  static Result<std::unique_ptr<RecordingWriter>> create(const std::string& path,
                                                         std::size_t size_max,
                                                         const Header& header);
  // Truncates the file to its used size.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  // Ends the recording when the entry does not fit; does nothing after its end. Never blocks.
  void add(const Entry& entry);
  // Ends the recording: no more entries are added.
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
  // Blocks. Fails with not_found, or with invalid_argument when the file is not a recording.
  static Result<std::unique_ptr<RecordingReader>> open(const std::string& path);

  // The path of the recorded program.
  const std::string& program() const { return program_; }
  const Header& header() const { return header_; }

  // Returns nothing at the end of the file. Fails with data_loss on an invalid entry.
  Result<std::optional<Entry>> next();

 private:
  RecordingReader() = default;

  std::ifstream file_;
  std::string program_;
  Header header_;
};

}  // namespace corolane::framework::recording
