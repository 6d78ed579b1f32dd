# SKILLGATE_CUDA=EMULATED: the addon with the CUDA backend on the emulated device, for tests of what drives it.
set(emulation "${CMAKE_CURRENT_LIST_DIR}")
file(GLOB emulator CONFIGURE_DEPENDS "${emulation}/emulator/*.cc")
set_source_files_properties(${kernels} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++;-Wno-unknown-pragmas")
target_sources(skillgate PRIVATE ${emulator} ${kernels} ${cuda_sources})
target_include_directories(skillgate BEFORE PRIVATE "${emulation}/include" "${emulation}")
target_compile_definitions(skillgate PRIVATE SKILLGATE_WITH_CUDA=1 SKILLGATE_CUDA_EMULATION)
