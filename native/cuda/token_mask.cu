// Credit of trajectories and reads spread over tokens. Counts are integers, so that atomics give one result.
#include <algorithm>
#include <climits>

#include "cuda/elementwise.cuh"
#include "cuda/ops.h"

namespace skillgate::cuda {
namespace {

constexpr uint8_t kNone = 0, kExecution = 1, kSelection = 2;
constexpr int32_t kNoRead = INT_MAX;

enum Count { kGenerated, kExecutionTokens, kActiveReads, kCounts };

struct Mask {
  int64_t tokens, sequences, reads;
  const int32_t* sequence_offsets;
  const uint8_t* generated;
  const float* outcome_advantage;
  const int32_t *call_start, *call_end, *identity_start, *identity_end;
  const float* read_advantage;
  double selector_coefficient;
  bool read_calls_included;
  // Scratch.
  int32_t* owner;             // [tokens] the earliest read whose identity span holds the token
  unsigned* in_call;          // [tokens]
  unsigned* identity_tokens;  // [reads] generated tokens it owns; 0 where the read is not active
  unsigned* counts;           // [kCounts]
  // Out, [tokens].
  uint8_t* channel;
  float *advantage, *weight, *kl_weight;
};

struct ClearTokens {
  Mask m;
  __device__ void operator()(int64_t t) const {
    m.owner[t] = kNoRead;
    m.in_call[t] = 0;
  }
};

// One block a read.
__global__ void mark_spans_kernel(Mask m) {
  const auto read = static_cast<int64_t>(blockIdx.x);
  auto clip = [&](int32_t t) { return min(max(static_cast<int64_t>(t), int64_t{0}), m.tokens); };
  for (int64_t t = clip(m.identity_start[read]) + threadIdx.x; t < clip(m.identity_end[read]);
       t += blockDim.x)
    atomicMin(&m.owner[t], static_cast<int32_t>(read));
  for (int64_t t = clip(m.call_start[read]) + threadIdx.x; t < clip(m.call_end[read]); t += blockDim.x)
    atomicMax(&m.in_call[t], 1u);
}

struct CountTokens {
  Mask m;
  __device__ void operator()(int64_t t) const {
    if (!m.generated[t]) return;
    atomicAdd(&m.counts[kGenerated], 1u);
    if (m.owner[t] != kNoRead) atomicAdd(&m.identity_tokens[m.owner[t]], 1u);
  }
};

struct CountReads {
  Mask m;
  __device__ void operator()(int64_t r) const {
    if (m.read_advantage[r] == 0.f) m.identity_tokens[r] = 0;
    if (m.identity_tokens[r] > 0) atomicAdd(&m.counts[kActiveReads], 1u);
  }
};

struct ChooseChannels {
  Mask m;
  __device__ void operator()(int64_t t) const {
    uint8_t channel = m.generated[t] ? kExecution : kNone;
    if (m.in_call[t] && !m.read_calls_included) channel = kNone;
    if (m.generated[t] && m.owner[t] != kNoRead && m.identity_tokens[m.owner[t]] > 0) channel = kSelection;
    if (channel == kExecution) atomicAdd(&m.counts[kExecutionTokens], 1u);
    m.channel[t] = channel;
  }
};

struct Weigh {
  Mask m;
  __device__ int64_t sequence_of(int64_t t) const {
    int64_t low = 0, high = m.sequences - 1;
    while (low < high) {
      const int64_t middle = (low + high + 1) / 2;
      if (m.sequence_offsets[middle] <= t) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
  __device__ void operator()(int64_t t) const {
    float advantage = 0.f, weight = 0.f;
    if (m.channel[t] == kExecution) {
      advantage = m.outcome_advantage[sequence_of(t)];
      weight = static_cast<float>(1.0 / static_cast<double>(m.counts[kExecutionTokens]));
    } else if (m.channel[t] == kSelection) {
      const int32_t read = m.owner[t];
      advantage = m.read_advantage[read];
      weight = static_cast<float>(m.selector_coefficient / static_cast<double>(m.counts[kActiveReads]) /
                                  static_cast<double>(m.identity_tokens[read]));
    }
    m.advantage[t] = advantage;
    m.weight[t] = weight;
    m.kl_weight[t] =
        m.generated[t] ? static_cast<float>(1.0 / static_cast<double>(m.counts[kGenerated])) : 0.f;
  }
};

}  // namespace

int64_t token_mask(Context& context, const TokenMaskArgs& a) {
  if (a.tokens == 0) return 0;
  Context::Scratch scratch(context);
  Mask m{};
  m.tokens = a.tokens;
  m.sequences = a.sequences;
  m.reads = a.reads;
  m.sequence_offsets = scratch.upload(a.sequence_offsets, a.sequences + 1);
  m.generated = scratch.upload(a.generated, a.tokens);
  m.outcome_advantage = scratch.upload(a.outcome_advantage, a.sequences);
  m.call_start = scratch.upload(a.call_start, a.reads);
  m.call_end = scratch.upload(a.call_end, a.reads);
  m.identity_start = scratch.upload(a.identity_start, a.reads);
  m.identity_end = scratch.upload(a.identity_end, a.reads);
  m.read_advantage = scratch.upload(a.read_advantage, a.reads);
  m.selector_coefficient = a.selector_coefficient;
  m.read_calls_included = a.read_calls_included;
  m.owner = scratch.take<int32_t>(a.tokens);
  m.in_call = scratch.take<unsigned>(a.tokens);
  m.identity_tokens = scratch.take<unsigned>(a.reads);
  m.counts = scratch.take<unsigned>(kCounts);
  m.channel = scratch.take<uint8_t>(a.tokens);
  m.advantage = scratch.take<float>(a.tokens);
  m.weight = scratch.take<float>(a.tokens);
  m.kl_weight = scratch.take<float>(a.tokens);
  context.zero(m.identity_tokens, static_cast<size_t>(a.reads) * sizeof(unsigned));
  context.zero(m.counts, kCounts * sizeof(unsigned));

  elementwise(context, "clear_tokens", a.tokens, ClearTokens{m});
  context.launch("mark_spans", mark_spans_kernel, dim3(static_cast<unsigned>(a.reads)), 128, 0, m);
  elementwise(context, "count_tokens", a.tokens, CountTokens{m});
  elementwise(context, "count_reads", a.reads, CountReads{m});
  elementwise(context, "choose_channels", a.tokens, ChooseChannels{m});
  elementwise(context, "weigh", a.tokens, Weigh{m});

  unsigned counts[kCounts];
  const auto floats = static_cast<size_t>(a.tokens) * sizeof(float);
  context.start_download(a.channel, m.channel, static_cast<size_t>(a.tokens));
  context.start_download(a.advantage, m.advantage, floats);
  context.start_download(a.weight, m.weight, floats);
  context.start_download(a.kl_weight, m.kl_weight, floats);
  context.download(counts, m.counts, sizeof counts);
  return counts[kGenerated];
}

}  // namespace skillgate::cuda
