#include "device_fixture.h"

#include "check.h"

namespace skillgate::test {

std::unique_ptr<Backend> open_cuda(const std::string& precision, const std::string& cublaslt) {
  BackendOptions options;
  options.precision = precision;
  options.cublaslt = cublaslt;
  return open_backend("cuda", options);
}

void expect_no_faults() {
  for (const std::string& fault : emulation::take_faults()) check::fail(__FILE__, __LINE__, fault);
}

void for_each_precision(const std::function<void(Backend&, const std::string&)>& body) {
  for (const char* precision : {"fp32", "bf16"}) {
    check::Scope scope(precision);
    body(*open_cuda(precision), precision);
    expect_no_faults();
  }
}

DeviceArray::DeviceArray(Backend& backend, int64_t count, DType dtype)
    : backend_(backend), dtype_(dtype), count_(count) {
  data_ = backend.allocate(static_cast<size_t>(count) * dtype_bytes(dtype));
}

DeviceArray::DeviceArray(Backend& backend, const std::vector<float>& values)
    : DeviceArray(backend, static_cast<int64_t>(values.size())) {
  backend.upload(data_, values.data(), values.size() * sizeof(float));
}

DeviceArray::DeviceArray(Backend& backend, const std::vector<int32_t>& values)
    : DeviceArray(backend, static_cast<int64_t>(values.size()), DType::i32) {
  backend.upload(data_, values.data(), values.size() * sizeof(int32_t));
}

DeviceArray::~DeviceArray() {
  backend_.release(data_);
}

DeviceArray::DeviceArray(DeviceArray&& other) noexcept
    : backend_(other.backend_), data_(other.data_), dtype_(other.dtype_), count_(other.count_) {
  other.data_ = nullptr;
}

std::vector<float> DeviceArray::floats() const {
  std::vector<float> values(static_cast<size_t>(count_));
  backend_.download(values.data(), data_, values.size() * sizeof(float));
  return values;
}

}  // namespace skillgate::test
