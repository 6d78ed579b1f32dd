// Clusters: blocks that run together and read each other's shared memory (sm_90 and later). Elsewhere a block
// is alone.
#pragma once
#include "cuda/cuda_common.cuh"

namespace skillgate::cuda {

#if defined(SKILLGATE_CUDA_EMULATION)

inline unsigned cluster_rank() {
  return emulation::running->block->rank;
}
inline unsigned cluster_size() {
  return emulation::launched->cluster;
}
inline void cluster_sync() {
  emulation::wait_for_cluster();
}
template <class T>
const T* cluster_peer(const T* shared, unsigned rank) {
  return static_cast<const T*>(emulation::in_block_of_cluster(const_cast<T*>(shared), rank));
}

#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ __forceinline__ unsigned cluster_rank() {
  return __clusterRelativeBlockRank();
}
__device__ __forceinline__ unsigned cluster_size() {
  return __clusterSizeInBlocks();
}
// All threads of all blocks of the cluster; orders their accesses to each other's shared memory.
__device__ __forceinline__ void cluster_sync() {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}
// The same variable in the block of that rank.
template <class T>
__device__ __forceinline__ const T* cluster_peer(const T* shared, unsigned rank) {
  return static_cast<const T*>(__cluster_map_shared_rank(const_cast<T*>(shared), rank));
}

#else

__device__ __forceinline__ unsigned cluster_rank() {
  return 0;
}
__device__ __forceinline__ unsigned cluster_size() {
  return 1;
}
__device__ __forceinline__ void cluster_sync() {
  __syncthreads();
}
template <class T>
__device__ __forceinline__ const T* cluster_peer(const T* shared, unsigned) {
  return shared;
}

#endif

}  // namespace skillgate::cuda
