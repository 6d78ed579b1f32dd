// A temporary folder that goes away with its object.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "skillgate-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  int count() const {
    int n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) n += entry.exists() ? 1 : 0;
    return n;
  }

 private:
  std::string path_;
};
