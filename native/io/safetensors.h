// The safetensors format: 8 bytes of header length, a JSON header, the tensors' bytes.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/file.h"

namespace skillgate {

// One file, or several that an index file names; a name stands in exactly one of them.
class SafetensorsReader {
 public:
  struct Entry {
    std::string dtype;  // "F32", "BF16", "F16", "I32", ...
    std::vector<int64_t> shape;
    int file = 0;
    int64_t offset = 0, bytes = 0;  // in that file
    int64_t count() const;
  };

  // Everything the header claims is checked against the file before it is used: Failure ERR_SAFETENSORS.
  static SafetensorsReader open(const std::string& path);
  // model.safetensors, or model.safetensors.index.json and its shards. Failure ERR_SAFETENSORS where neither
  // is there.
  static SafetensorsReader open_folder(const std::string& dir);

  const std::map<std::string, Entry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const Entry* find(const std::string& name) const;
  // out [count]; F32, BF16, F16 -> float32. Failure ERR_DTYPE for any other, ERR_MISSING_TENSOR.
  void read_f32(const std::string& name, float* out) const;

 private:
  void add_file(const std::string& path);
  std::vector<std::shared_ptr<ReadableFile>> files_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> metadata_;
};

struct TensorToWrite {
  std::string name;
  std::vector<int64_t> shape;  // float32
};

// Writes float32 tensors; `fill(i, append)` appends the bytes of tensor i. Atomic as write_file is.
void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<void(size_t i, const AppendBytes& append)>& fill);

}  // namespace skillgate
