// Files as a whole: read, and write so that a reader sees the old content or the new, never a part.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace skillgate {

bool file_exists(const std::string& path);

// Failure ERR_FILE (with the path and the system's reason), or when it is larger than max_bytes.
std::string read_file(const std::string& path, int64_t max_bytes);

// A file opened for reading at any offset.
class ReadableFile {
 public:
  explicit ReadableFile(const std::string& path);
  ~ReadableFile();
  ReadableFile(const ReadableFile&) = delete;
  ReadableFile& operator=(const ReadableFile&) = delete;
  int64_t size() const { return size_; }
  void read(void* to, int64_t offset, int64_t bytes) const;  // Failure ERR_FILE where it ends early
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

// Calls `write` with a function that appends bytes to <path>.tmp-<pid>, then syncs it and renames it to
// `path`, and syncs the folder. On any failure (ERR_FILE; "no space left" says so) the temporary file is
// removed and `path` is as it was.
using AppendBytes = std::function<void(const void* data, size_t bytes)>;
void write_file(const std::string& path, const std::function<void(const AppendBytes&)>& write);
void write_file(const std::string& path, std::string_view content);

void make_directory(const std::string& path);  // with its parents

}  // namespace skillgate
