// Opening the backend on the emulated device, and moving test data there and back.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "emulator/device.h"

namespace skillgate::test {

// Settings of the emulated device as they were, put back at the end of a test.
class SettingsGuard {
 public:
  SettingsGuard() : before_(emulation::settings()) {}
  ~SettingsGuard() { emulation::settings() = before_; }
  SettingsGuard(const SettingsGuard&) = delete;
  SettingsGuard& operator=(const SettingsGuard&) = delete;

 private:
  emulation::Settings before_;
};

std::unique_ptr<Backend> open_cuda(const std::string& precision, const std::string& cublaslt = "off");

// Runs body(backend, precision) in fp32 and in bf16, in a Scope that says which, and reports what the
// emulator found.
void for_each_precision(const std::function<void(Backend&, const std::string&)>& body);

// Fails the test if the emulator found anything.
void expect_no_faults();

// Device memory with what is in a vector; new memory is NaN.
class DeviceArray {
 public:
  DeviceArray(Backend& backend, int64_t count, DType dtype = DType::f32);
  DeviceArray(Backend& backend, const std::vector<float>& values);
  DeviceArray(Backend& backend, const std::vector<int32_t>& values);
  ~DeviceArray();
  DeviceArray(DeviceArray&& other) noexcept;
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  Tensor tensor(std::initializer_list<int64_t> shape) const { return Tensor(data_, dtype_, shape); }
  std::vector<float> floats() const;

 private:
  Backend& backend_;
  void* data_ = nullptr;
  DType dtype_;
  int64_t count_;
};

}  // namespace skillgate::test
