// Host arrays as a device sees them: the same memory on the CPU, a copy elsewhere.
#pragma once
#include <cstring>
#include <initializer_list>

#include "backend/backend.h"

namespace skillgate {

class DeviceArray {
 public:
  DeviceArray(Backend& backend, const void* host, DType dtype, std::initializer_list<int64_t> shape)
      : backend_(backend),
        tensor_(const_cast<void*>(host), dtype, shape),
        copied_(std::strcmp(backend.name(), "cpu") != 0) {
    if (copied_) tensor_.data = backend.allocate(tensor_.bytes());
  }
  ~DeviceArray() {
    if (copied_) backend_.release(tensor_.data);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  Tensor tensor() const { return tensor_; }

 protected:
  Backend& backend_;
  Tensor tensor_;
  bool copied_;
};

class DeviceInput : public DeviceArray {
 public:
  DeviceInput(Backend& backend, const void* host, DType dtype, std::initializer_list<int64_t> shape)
      : DeviceArray(backend, host, dtype, shape) {
    if (copied_) backend.upload(tensor_.data, host, tensor_.bytes());
  }
};

// Zero at first, as `host` must be.
class DeviceOutput : public DeviceArray {
 public:
  DeviceOutput(Backend& backend, float* host, std::initializer_list<int64_t> shape)
      : DeviceArray(backend, host, DType::f32, shape), host_(host) {
    if (copied_) backend.zero(tensor_.data, tensor_.bytes());
  }
  void download() {
    if (copied_) backend_.download(host_, tensor_.data, tensor_.bytes());
  }

 private:
  float* host_;
};

}  // namespace skillgate
