#include "io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "backend/status.h"

namespace skillgate {

namespace {
[[noreturn]] void fail(const char* what, const std::string& path) {
  const int e = errno;
  throw Failure("ERR_FILE", std::string("cannot ") + what + " " + path + ": " + std::strerror(e));
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};
}  // namespace

bool file_exists(const std::string& path) {
  struct stat s;
  return ::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

ReadableFile::ReadableFile(const std::string& path) : path_(path) {
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) fail("open", path);
  struct stat s;
  if (::fstat(fd_, &s) != 0 || !S_ISREG(s.st_mode)) {
    ::close(fd_);
    throw Failure("ERR_FILE", "expected a regular file at " + path);
  }
  size_ = s.st_size;
}

ReadableFile::~ReadableFile() {
  ::close(fd_);
}

void ReadableFile::read(void* to, int64_t offset, int64_t bytes) const {
  char* p = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = ::pread(fd_, p, static_cast<size_t>(std::min<int64_t>(bytes, 1 << 30)), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read", path_);
    if (n == 0) throw Failure("ERR_FILE", path_ + " ends early: wanted byte " + std::to_string(offset));
    p += n;
    offset += n;
    bytes -= n;
  }
}

std::string read_file(const std::string& path, int64_t max_bytes) {
  ReadableFile file(path);
  if (file.size() > max_bytes)
    throw Failure("ERR_FILE", path + " has " + std::to_string(file.size()) + " bytes; at most " +
                                  std::to_string(max_bytes) + " are read");
  std::string content(static_cast<size_t>(file.size()), '\0');
  file.read(content.data(), 0, file.size());
  return content;
}

void write_file(const std::string& path, const std::function<void(const AppendBytes&)>& write) {
  const std::string aside = path + ".tmp-" + std::to_string(::getpid());
  Descriptor out{::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
  if (out.fd < 0) fail("create", aside);
  try {
    write([&](const void* data, size_t bytes) {
      const char* p = static_cast<const char*>(data);
      while (bytes > 0) {
        const ssize_t n = ::write(out.fd, p, std::min<size_t>(bytes, 1 << 30));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail("write", aside);
        p += n;
        bytes -= static_cast<size_t>(n);
      }
    });
    if (::fsync(out.fd) != 0) fail("sync", aside);
    if (::rename(aside.c_str(), path.c_str()) != 0) fail("rename to", path);
  } catch (...) {
    ::unlink(aside.c_str());
    throw;
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Descriptor dir{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (dir.fd >= 0) ::fsync(dir.fd);
}

void write_file(const std::string& path, std::string_view content) {
  write_file(path, [&](const AppendBytes& append) { append(content.data(), content.size()); });
}

void make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Failure("ERR_FILE", "cannot create folder " + path + ": " + error.message());
}

}  // namespace skillgate
