#include "cuda/cublaslt.h"

#include <dlfcn.h>

#include <array>
#include <map>
#include <vector>

namespace skillgate::cuda {
namespace {

// The part of cublasLt.h that is used, with its values.
using Handle = void*;
using Descriptor = void*;
using Layout = void*;
using Preference = void*;
struct Algorithm {
  uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};
constexpr int kSuccess = 0;
constexpr int kFloat32 = 0, kBfloat16 = 14;     // CUDA_R_32F, CUDA_R_16BF
constexpr int kComputeFloat32 = 68;             // CUBLAS_COMPUTE_32F
constexpr int kTransA = 3, kTransB = 4;         // CUBLASLT_MATMUL_DESC_TRANSA, _TRANSB
constexpr int kEpilogue = 7, kBiasPointer = 8;  // CUBLASLT_MATMUL_DESC_EPILOGUE, _BIAS_POINTER
constexpr uint32_t kEpilogueBias = 4;           // CUBLASLT_EPILOGUE_BIAS
constexpr int kMaxWorkspace = 1;                // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
constexpr int kReductionSchemes = 3;            // CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK
constexpr int kAlignment[4] = {5, 6, 7, 8};     // CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES .. _D_BYTES

struct Functions {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  size_t (*version)();
  int (*descriptor_create)(Descriptor*, int compute, int scale);
  int (*descriptor_destroy)(Descriptor);
  int (*descriptor_set)(Descriptor, int attribute, const void*, size_t);
  int (*layout_create)(Layout*, int type, uint64_t rows, uint64_t columns, int64_t stride);
  int (*layout_destroy)(Layout);
  int (*preference_create)(Preference*);
  int (*preference_destroy)(Preference);
  int (*preference_set)(Preference, int attribute, const void*, size_t);
  int (*heuristic)(Handle, Descriptor, Layout, Layout, Layout, Layout, Preference, int wanted,
                   HeuristicResult*, int* found);
  int (*matmul)(Handle, Descriptor, const void* alpha, const void* a, Layout, const void* b, Layout,
                const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*, void* workspace,
                size_t workspace_bytes, void* stream);
};

// The descriptors of one form of product, and the algorithm chosen for it.
struct Plan {
  Descriptor descriptor = nullptr;
  Layout a = nullptr, b = nullptr, d = nullptr;
  Algorithm algorithm{};
  bool possible = false;
};
using PlanKey = std::array<int64_t, 12>;

int64_t alignment(const void* p) {
  const auto bits = reinterpret_cast<uintptr_t>(p);
  int64_t a = 256;
  while (bits % static_cast<uintptr_t>(a) != 0) a /= 2;
  return a;
}

constexpr size_t kMostPlans = 512;

}  // namespace

struct CublasLt::State {
  void* library = nullptr;
  std::string name;
  Functions call{};
  Handle handle = nullptr;
  std::map<PlanKey, Plan> plans;

  ~State() {
    clear_plans();
    if (handle) call.destroy(handle);
    // The library stays open: it may have threads and device state of its own.
  }

  void clear_plans() {
    for (auto& [key, plan] : plans) {
      if (plan.a) call.layout_destroy(plan.a);
      if (plan.b) call.layout_destroy(plan.b);
      if (plan.d) call.layout_destroy(plan.d);
      if (plan.descriptor) call.descriptor_destroy(plan.descriptor);
    }
    plans.clear();
  }

  bool find_functions(std::string* missing) {
    bool all = true;
    auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol));
      if (!function && all) *missing = symbol;
      all = all && function;
    };
    find(call.create, "cublasLtCreate");
    find(call.destroy, "cublasLtDestroy");
    find(call.version, "cublasLtGetVersion");
    find(call.descriptor_create, "cublasLtMatmulDescCreate");
    find(call.descriptor_destroy, "cublasLtMatmulDescDestroy");
    find(call.descriptor_set, "cublasLtMatmulDescSetAttribute");
    find(call.layout_create, "cublasLtMatrixLayoutCreate");
    find(call.layout_destroy, "cublasLtMatrixLayoutDestroy");
    find(call.preference_create, "cublasLtMatmulPreferenceCreate");
    find(call.preference_destroy, "cublasLtMatmulPreferenceDestroy");
    find(call.preference_set, "cublasLtMatmulPreferenceSetAttribute");
    find(call.heuristic, "cublasLtMatmulAlgoGetHeuristic");
    find(call.matmul, "cublasLtMatmul");
    return all;
  }

  bool describe(Plan& plan, const LtProduct& p) const {
    const int32_t trans_a = p.a_transposed, trans_b = p.b_transposed;
    if (call.descriptor_create(&plan.descriptor, kComputeFloat32, kFloat32) != kSuccess) return false;
    if (call.descriptor_set(plan.descriptor, kTransA, &trans_a, sizeof trans_a) != kSuccess) return false;
    if (call.descriptor_set(plan.descriptor, kTransB, &trans_b, sizeof trans_b) != kSuccess) return false;
    if (p.bias && call.descriptor_set(plan.descriptor, kEpilogue, &kEpilogueBias, sizeof kEpilogueBias))
      return false;
    auto layout = [&](Layout& l, int type, bool transposed, int64_t rows, int64_t columns, int64_t stride) {
      if (transposed) std::swap(rows, columns);
      return call.layout_create(&l, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                                stride) == kSuccess;
    };
    return layout(plan.a, kBfloat16, p.a_transposed, p.n, p.k, p.a_stride) &&
           layout(plan.b, kBfloat16, p.b_transposed, p.k, p.m, p.b_stride) &&
           layout(plan.d, kFloat32, false, p.n, p.m, p.d_stride);
  }

  bool choose(Plan& plan, const LtProduct& p) const {
    Preference preference = nullptr;
    if (call.preference_create(&preference) != kSuccess) return false;
    const uint64_t workspace = kWorkspaceBytes;
    const uint32_t no_split_sums = 0;  // split sums would add up in an order of their own
    bool ok =
        call.preference_set(preference, kMaxWorkspace, &workspace, sizeof workspace) == kSuccess &&
        call.preference_set(preference, kReductionSchemes, &no_split_sums, sizeof no_split_sums) == kSuccess;
    const void* pointers[4] = {p.a, p.b, p.d, p.d};
    for (int i = 0; i < 4 && ok; i++) {
      const auto bytes = static_cast<uint32_t>(alignment(pointers[i]));
      ok = call.preference_set(preference, kAlignment[i], &bytes, sizeof bytes) == kSuccess;
    }
    HeuristicResult result{};
    int found = 0;
    ok = ok &&
         call.heuristic(handle, plan.descriptor, plan.a, plan.b, plan.d, plan.d, preference, 1, &result,
                        &found) == kSuccess &&
         found > 0 && result.state == kSuccess && result.workspace_bytes <= kWorkspaceBytes;
    call.preference_destroy(preference);
    plan.algorithm = result.algorithm;
    return ok;
  }

  Plan& plan_for(const LtProduct& p) {
    const PlanKey key{p.n,
                      p.m,
                      p.k,
                      p.a_stride,
                      p.b_stride,
                      p.d_stride,
                      p.a_transposed,
                      p.b_transposed,
                      p.bias != nullptr,
                      alignment(p.a),
                      alignment(p.b),
                      alignment(p.d)};
    const auto it = plans.find(key);
    if (it != plans.end()) return it->second;
    if (plans.size() >= kMostPlans) clear_plans();
    Plan& plan = plans[key];
    plan.possible = describe(plan, p) && choose(plan, p);
    return plan;
  }
};

CublasLt::CublasLt(std::unique_ptr<State> state) : state_(std::move(state)) {}
CublasLt::~CublasLt() = default;

std::unique_ptr<CublasLt> CublasLt::open(const std::string& library, std::string* why_not) {
  const std::vector<std::string> names =
      library.empty() ? std::vector<std::string>{"libcublasLt.so.13", "libcublasLt.so.12"}
                      : std::vector<std::string>{library};
  auto state = std::make_unique<State>();
  for (const std::string& name : names) {
    state->library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (state->library) {
      state->name = name;
      break;
    }
    const char* reason = dlerror();
    *why_not += (why_not->empty() ? "" : "; ") + std::string(reason ? reason : name + " cannot be opened");
  }
  if (!state->library) return nullptr;
  std::string missing;
  if (!state->find_functions(&missing)) {
    *why_not = state->name + " has no " + missing;
    return nullptr;
  }
  if (const int status = state->call.create(&state->handle); status != kSuccess) {
    state->handle = nullptr;
    *why_not = state->name + ": cublasLtCreate gave status " + std::to_string(status);
    return nullptr;
  }
  return std::unique_ptr<CublasLt>(new CublasLt(std::move(state)));
}

const std::string& CublasLt::library() const {
  return state_->name;
}

std::string CublasLt::version() const {
  const size_t v = state_->call.version();
  return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
}

bool CublasLt::multiply(const LtProduct& p, void* workspace, void* stream) const {
  Plan& plan = state_->plan_for(p);
  if (!plan.possible) return false;
  if (p.bias &&
      state_->call.descriptor_set(plan.descriptor, kBiasPointer, &p.bias, sizeof p.bias) != kSuccess)
    return false;
  const float one = 1.f, beta = p.accumulate ? 1.f : 0.f;
  return state_->call.matmul(state_->handle, plan.descriptor, &one, p.a, plan.a, p.b, plan.b, &beta, p.d,
                             plan.d, p.d, plan.d, &plan.algorithm, workspace, kWorkspaceBytes,
                             stream) == kSuccess;
}

}  // namespace skillgate::cuda
