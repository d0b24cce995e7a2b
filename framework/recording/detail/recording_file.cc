// SPDX-License-Identifier: MIT
#include "framework/recording/detail/recording_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::framework::recording {
namespace {

constexpr std::string_view mark = "corolane recording 1 ";

// Space reserved for the end entry and its reason.
constexpr std::size_t kept_for_end = 256;
// Larger sizes indicate a damaged file.
constexpr std::uint64_t message_size_max = std::uint64_t{1} << 30;

Error system_error(const std::string& path, int number) {
  const Code code = number == ENOENT                      ? Code::not_found
                    : number == EACCES || number == EPERM ? Code::permission_denied
                    : number == ENOSPC || number == EDQUOT || number == EFBIG
                        ? Code::resource_exhausted
                        : Code::unavailable;
  return Error(code, path + ": " + std::generic_category().message(number));
}

std::string own_path() {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/exe", failure).string();
}

// The encoded end entry of a clean end: its size, its field, the size of that.
constexpr std::string_view good_end("\x02\x42\x00", 3);

// Removes or renames an old recording to make room for a new one.
Result<void> make_way(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string begin(mark.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin != mark) {
    return Error(Code::already_exists, path + " exists and is not a recording; use another file");
  }
  std::string end(good_end.size(), '\0');
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  file.read(end.data(), static_cast<std::streamsize>(end.size()));
  const bool has_ended_well = end == good_end;
  const int failed = has_ended_well ? std::remove(path.c_str())
                                    : std::rename(path.c_str(), (path + ".previous").c_str());
  if (failed != 0) return system_error(path, errno);
  return {};
}

// Returns nothing at the end of the file, or before the zeros of an unused rest.
Result<std::optional<std::string>> read_message(std::ifstream& file) {
  std::uint64_t size = 0;
  for (unsigned shift = 0;; shift += 7) {
    const int byte = file.get();
    if (byte == std::ifstream::traits_type::eof()) return std::nullopt;
    size |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
    if (shift > 28) return Error(Code::data_loss, "the recording is damaged");
  }
  if (size == 0) return std::nullopt;
  if (size > message_size_max) return Error(Code::data_loss, "the recording is damaged");
  std::string bytes(size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uint64_t>(file.gcount()) != size) return std::nullopt;
  return bytes;
}

}  // namespace

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const std::string& path,
                                                                 std::size_t size_max,
                                                                 const Header& header) {
  if (auto made = make_way(path); !made) return std::move(made.error());
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return system_error(path, errno);
  if (const int failure = ::posix_fallocate(file, 0, static_cast<off_t>(size_max)); failure != 0) {
    ::close(file);
    static_cast<void>(std::remove(path.c_str()));
    return system_error(path, failure);
  }
  void* const bytes = ::mmap(nullptr, size_max, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED) {
    const int failure = errno;
    ::close(file);
    return system_error(path, failure);
  }
  std::unique_ptr<RecordingWriter> writer(
      new RecordingWriter(file, static_cast<std::byte*>(bytes), size_max));
  const std::string first_line = std::string(mark) + own_path() + "\n";
  if (first_line.size() + kept_for_end > size_max) return system_error(path, ENOSPC);
  std::memcpy(writer->bytes_, first_line.data(), first_line.size());
  writer->size_ = first_line.size();
  if (!writer->put(header, kept_for_end)) {
    return Error(Code::resource_exhausted, path + ": too small for the configuration alone");
  }
  return writer;
}

RecordingWriter::RecordingWriter(int file, std::byte* bytes, std::size_t size_max)
    : file_(file), bytes_(bytes), size_max_(size_max) {}

RecordingWriter::~RecordingWriter() {
  ::munmap(bytes_, size_max_);
  if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) {
    // The file keeps its size; readers expect the zeros after its end.
  }
  ::close(file_);
}

// Returns false, and has changed nothing, when less than `kept` would be left.
bool RecordingWriter::put(const google::protobuf::MessageLite& message, std::size_t kept) {
  const std::size_t size = message.ByteSizeLong();
  std::array<std::uint8_t, 10> prefix{};
  std::size_t prefix_size = 0;
  for (std::size_t rest = size;; rest >>= 7) {
    prefix[prefix_size++] = static_cast<std::uint8_t>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    if (rest <= 0x7f) break;
  }
  if (prefix_size + size + kept > size_max_ - size_) return false;
  std::byte* const place = bytes_ + size_;
  // The size is written last: an entry that a dead process did not finish has size 0 and is
  // ignored.
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(place + prefix_size));
  std::memcpy(place, prefix.data(), prefix_size);
  size_ += prefix_size + size;
  return true;
}

void RecordingWriter::add(const Entry& entry) {
  if (has_ended_) return;
  if (!put(entry, kept_for_end)) return end("the file is full");
  ++entry_count_;
}

void RecordingWriter::end(const std::string& reason) {
  if (std::exchange(has_ended_, true)) return;
  Entry entry;
  entry.mutable_end()->set_reason(reason);
  check(put(entry, 0), "there is room for the end of a recording");
}

Result<std::unique_ptr<RecordingReader>> RecordingReader::open(const std::string& path) {
  std::unique_ptr<RecordingReader> reader(new RecordingReader);
  reader->file_.open(path, std::ios::binary);
  if (!reader->file_) return system_error(path, errno);
  const Error no_recording(Code::invalid_argument,
                           path + ": not a recording of a node; node.record.file makes one");
  std::string first(mark.size(), '\0');
  reader->file_.read(first.data(), static_cast<std::streamsize>(first.size()));
  if (first != mark || !std::getline(reader->file_, reader->program_)) return no_recording;
  auto header = read_message(reader->file_);
  if (!header || !*header || !reader->header_.ParseFromString(**header)) return no_recording;
  return reader;
}

Result<std::optional<Entry>> RecordingReader::next() {
  auto bytes = read_message(file_);
  if (!bytes) return bytes.error();
  if (!*bytes) return std::nullopt;
  Entry entry;
  if (!entry.ParseFromString(**bytes) || entry.what_case() == Entry::WHAT_NOT_SET) {
    return Error(Code::data_loss, "the recording is damaged");
  }
  return entry;
}

}  // namespace corolane::framework::recording
