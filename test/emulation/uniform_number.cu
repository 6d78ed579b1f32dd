// The generator of native/cuda under the name that the tests of sampling know.
#include "cpu/sampling.h"
#include "cuda/philox.cuh"

namespace skillgate {

double uniform_number(uint64_t seed, uint64_t counter) {
  return cuda::uniform_number(seed, counter);
}

}  // namespace skillgate
