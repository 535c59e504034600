# halfbyte_add_kernels(NAME FILE... [CPU cpu]) compiles kernel files (*.hb, *.ptx) to native code for the target machine, as the library NAME.
# Targets that link NAME can include FILE.h, a C and C++ header for each file. `halfbyte` must be on the PATH.
#
# The triple is CMAKE_C_COMPILER_TARGET, or derives from CMAKE_SYSTEM_PROCESSOR; HALFBYTE_TRIPLE overrides both.
function(halfbyte_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CPU" "")
  find_program(HALFBYTE halfbyte REQUIRED)
  if(HALFBYTE_TRIPLE)
    set(triple ${HALFBYTE_TRIPLE})
  elseif(CMAKE_C_COMPILER_TARGET)
    set(triple ${CMAKE_C_COMPILER_TARGET})
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    string(REGEX REPLACE "^riscv64$" "riscv64gc" processor ${CMAKE_SYSTEM_PROCESSOR})
    set(triple ${processor}-unknown-linux-gnu)
  else()
    message(FATAL_ERROR "halfbyte_add_kernels: set HALFBYTE_TRIPLE, such as aarch64-unknown-linux-gnu")
  endif()
  set(cpu)
  if(arg_CPU)
    set(cpu --cpu ${arg_CPU})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  file(MAKE_DIRECTORY ${folder})
  set(objects)
  set(headers)
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(source ${file} ABSOLUTE)
    get_filename_component(stem ${file} NAME_WE)
    add_custom_command(
      OUTPUT ${folder}/${stem}.o ${folder}/${stem}.h
      COMMAND ${HALFBYTE} compile ${source} --target ${triple} ${cpu} --emit obj -o ${folder}/${stem}.o --header ${folder}/${stem}.h
      DEPENDS ${source}
      VERBATIM)
    list(APPEND objects ${folder}/${stem}.o)
    list(APPEND headers ${folder}/${stem}.h)
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(${name} STATIC ${objects} ${headers})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${name} PUBLIC ${folder})
endfunction()
