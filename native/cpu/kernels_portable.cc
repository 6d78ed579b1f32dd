// The kernels for any processor.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "cpu/kernels.h"

#define SKILLGATE_TARGET portable
#include "cpu/matmul_kernel.h"
#include "cpu/optimizer_kernel.h"
#include "cpu/rows_kernel.h"
#include "cpu/softmax_kernel.h"

namespace skillgate {

constinit const Kernels kKernelsPortable = [] {
  Kernels k{};
  k.set = InstructionSet::portable;
  portable::fill_matmul(k);
  portable::fill_rows(k);
  portable::fill_softmax(k);
  portable::fill_optimizer(k);
  return k;
}();

}  // namespace skillgate
