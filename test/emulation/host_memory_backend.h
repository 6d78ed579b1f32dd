// Lets tests that were written for a device whose memory is the host's run on any other: a backend that takes
// tensors in host memory too, moves them to the device for each op, and moves back what the op wrote.
#pragma once
#include <memory>

#include "backend/backend.h"

namespace skillgate::test {

std::unique_ptr<Backend> with_host_memory(std::unique_ptr<Backend> device);

}  // namespace skillgate::test
