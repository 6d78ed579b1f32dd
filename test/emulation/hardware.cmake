# SKILLGATE_GPU_CHECK: what scripts/gpu-check.mjs runs on a GPU, from the addon's own objects: gpu_test, the tests of this folder that ask
# nothing of the emulator, and gpu_bench.
if(NOT with_cuda)
  message(FATAL_ERROR "SKILLGATE_GPU_CHECK wants SKILLGATE_CUDA=ON and an nvcc")
endif()
set(here "${CMAKE_CURRENT_LIST_DIR}")
set(native_test "${CMAKE_SOURCE_DIR}/test/native")
set(objects $<TARGET_OBJECTS:skillgate>)

file(GLOB gpu_tests CONFIGURE_DEPENDS "${here}/*.cc" "${here}/*.cu")
list(FILTER gpu_tests EXCLUDE REGEX "/(emulator|emulator_host|errors|policy_errors)_test")
foreach(op adamw attention matmul policy_loss rmsnorm rope rows sampling swiglu token_mask)
  list(APPEND gpu_tests "${native_test}/cpu/${op}_test.cc")
endforeach()
add_executable(gpu_test ${gpu_tests} "${here}/hardware/device.cu" "${native_test}/check.cc"
                        "${native_test}/golden_file.cc" "${native_test}/op_cases.cc")
target_include_directories(gpu_test PRIVATE "${here}" native "${native_test}")
target_compile_definitions(gpu_test PRIVATE SKILLGATE_WITH_CUDA=1 SKILLGATE_TEST_ROOT="${CMAKE_SOURCE_DIR}/test"
                                            CUBLASLT_RIGHT="")
# The tests bring a registry of their own, in which "cpu" is the GPU in fp32.
target_link_libraries(gpu_test PRIVATE $<FILTER:${objects},INCLUDE,native/\(cuda|model|train|io\)/>)

add_executable(gpu_bench bench/cuda/gpu_bench.cc bench/cuda/model_bench.cc bench/cuda/policy_loss_bench.cu)
target_include_directories(gpu_bench PRIVATE native bench/cuda)
target_link_libraries(gpu_bench PRIVATE $<FILTER:${objects},INCLUDE,native/\(cuda|cpu|backend|model|train|io\)/>)

foreach(target gpu_test gpu_bench)
  add_dependencies(${target} skillgate)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY Static)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static Threads::Threads ${CMAKE_DL_LIBS})
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${cxx_flags}>")
endforeach()
