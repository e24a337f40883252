# A few verbs, so that a CMakeLists.txt in a leaf directory is about names and layers only.

find_package(Threads REQUIRED)
find_package(tl-expected CONFIG REQUIRED)

add_library(hostler_flags INTERFACE)
target_compile_options(hostler_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  "$<$<CXX_COMPILER_ID:Clang>:-Wthread-safety;-Werror=thread-safety>"
  $<$<BOOL:${HOSTLER_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Optimising, gcc 12 sees overlaps in text + std::string that are not there (its bug 105651), and of the frames
  # of Asio's coroutines it sees what their operator new calls, but not what their operator delete calls.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if(CMAKE_CXX_FLAGS_${type} MATCHES "-O[1-3]")
    target_compile_options(hostler_flags INTERFACE
      "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-mismatched-new-delete>")
  endif()
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Of a type in an anonymous namespace it fears that its file is a header.
  target_compile_options(hostler_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(HOSTLER_SANITIZE)
  target_compile_options(hostler_flags INTERFACE -fsanitize=${HOSTLER_SANITIZE} -fno-omit-frame-pointer)
  if(HOSTLER_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Asio has fences, which the sanitizer does not see; what they order is under its mutexes too.
    target_compile_options(hostler_flags INTERFACE -Wno-tsan)
  endif()
  if(HOSTLER_SANITIZE MATCHES "undefined" AND NOT HOSTLER_FUZZ)
    # Checks of every access, most of which AddressSanitizer makes too; a third of the time that
    # compiling takes (measured with gcc). The fuzz preset has them.
    target_compile_options(hostler_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # clang 14 cannot mark coroutines for the check of function types, and RapidJSON adds to null.
    target_compile_options(hostler_flags INTERFACE -fno-sanitize=function,pointer-overflow)
  endif()
  target_link_options(hostler_flags INTERFACE -fsanitize=${HOSTLER_SANITIZE})
endif()
if(HOSTLER_FUZZ)
  # Every layer tells the fuzzer where it has been; what is undefined ends the run.
  target_compile_options(hostler_flags INTERFACE -fsanitize=fuzzer-no-link -fno-sanitize-recover=all)
endif()
# What makes a defect hard to exploit; tests/abi/hardening.py reads it from the files. Flags that cost
# time or need optimisation are the Release build's.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(HOSTLER_CONTROL_FLOW -mbranch-protection=standard)
else()
  set(HOSTLER_CONTROL_FLOW -fcf-protection)
endif()
set(HOSTLER_HARDENING -fstack-protector-strong ${HOSTLER_CONTROL_FLOW} -U_FORTIFY_SOURCE
  -D_FORTIFY_SOURCE=2)
target_compile_options(hostler_flags INTERFACE "$<$<CONFIG:Release>:${HOSTLER_HARDENING}>")
target_link_options(hostler_flags INTERFACE -Wl,-z,relro,-z,now)
if(HOSTLER_CLANG_TIDY)
  find_program(CLANG_TIDY_EXE NAMES clang-tidy-14 clang-tidy REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY "${CLANG_TIDY_EXE}" --quiet)
endif()

# hostler_layers(<dir>...): add_subdirectory for each, in order.
function(hostler_layers)
  foreach(dir ${ARGN})
    add_subdirectory(${dir})
  endforeach()
endfunction()

# hostler_library(<name> SOURCES <cc>... DEPS <lower layers>... PRIVATE_DEPS <third party>...)
function(hostler_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SOURCES)
    add_library(hostler_${name} STATIC ${ARG_SOURCES})
    target_include_directories(hostler_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(hostler_${name} PUBLIC ${ARG_DEPS} PRIVATE hostler_flags ${ARG_PRIVATE_DEPS})
  else()
    add_library(hostler_${name} INTERFACE)
    target_include_directories(hostler_${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(hostler_${name} INTERFACE ${ARG_DEPS})
  endif()
  add_library(hostler::${name} ALIAS hostler_${name})
endfunction()

# hostler_embed_scripts(<library> HEADER <header> NAMESPACE <namespace> FILES <sh>...): of each script, as
# sh/first_look.sh, the library has a std::string_view kFirstLook, which the header declares. Lines that are comments
# are left out, and @HOSTLER_X@ is the macro HOSTLER_X of the header. A changed script makes ninja run cmake, which
# writes the source: clang-tidy needs it where nothing is built.
function(hostler_embed_scripts library)
  cmake_parse_arguments(ARG "" "HEADER;NAMESPACE" "FILES" ${ARGN})
  set(source "#include \"${ARG_HEADER}\"\n\nnamespace ${ARG_NAMESPACE} {\n")
  foreach(file ${ARG_FILES})
    get_filename_component(words ${file} NAME_WE)
    string(REPLACE "_" ";" words ${words})
    set(name k)
    foreach(word ${words})
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND name ${first}${rest})
    endforeach()
    file(READ ${file} text)
    string(REGEX REPLACE "\n[ \t]*#[^\n]*" "" text "\n${text}")
    string(REGEX REPLACE "^\n" "" text "${text}")
    string(REGEX REPLACE "@(HOSTLER_[A-Z_]+)@" ")sh\" \\1 R\"sh(" text "${text}")
    string(APPEND source "const std::string_view ${name} = R\"sh(${text})sh\";\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  string(APPEND source "}  // namespace ${ARG_NAMESPACE}\n")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${library}_scripts.cc)
  set(before "")
  if(EXISTS ${output})
    file(READ ${output} before)
  endif()
  if(NOT before STREQUAL source)
    file(WRITE ${output} "${source}")
  endif()
  target_sources(hostler_${library} PRIVATE ${output})
endfunction()

# hostler_program(<name> SOURCES <cc>... DEPS <layers>...): a program in build/<preset>/bin.
# Never linked with -rdynamic: a driver's own calls must not resolve into the host.
function(hostler_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE hostler_flags ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS OFF)
endfunction()

# hostler_bench(<name> SOURCES <cc>... [DEPS <layers>...] [DEFINES <name>=<value>...]): a program in
# build/<preset>/bench, run by hand; a folder's benchmark is named after it, <folder>_bench.
function(hostler_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;DEFINES" ${ARGN})
  hostler_program(${name} SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS})
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()

# hostler_tests_need(LABELS <label>... [TARGETS <target>...]): `tests-<label>` builds these too. For
# tests that are scripts; hostler_test and hostler_driver say it of theirs.
function(hostler_tests_need)
  cmake_parse_arguments(ARG "" "" "LABELS;TARGETS" ${ARGN})
  foreach(label ${ARG_LABELS})
    if(NOT TARGET tests-${label})
      add_custom_target(tests-${label})
    endif()
    if(ARG_TARGETS)
      add_dependencies(tests-${label} ${ARG_TARGETS})
    endif()
  endforeach()
endfunction()

# hostler_driver(<name> SOURCES <cc>...): a loadable driver that sees the SDK and nothing of core.
# It exports hostler_driver_entry_1 and nothing else. Its manifest is made beside it.
# FOLDER: where, below the build folder; NO_MANIFEST: for drivers that are broken on purpose;
# SANDBOX: what its manifest asks for, if not full; FILES: targets of programs and libraries beside it
# that its manifest names (with SANDBOX).
function(hostler_driver name)
  cmake_parse_arguments(ARG "NO_MANIFEST" "FOLDER;SANDBOX" "SOURCES;PRIVATE_DEPS;FILES" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER lib/hostler/drivers)
  endif()
  add_library(hostler_driver_${name} MODULE ${ARG_SOURCES})
  target_link_libraries(hostler_driver_${name} PRIVATE hostler_flags hostler::sdk ${ARG_PRIVATE_DEPS})
  set_target_properties(hostler_driver_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME "${name}" SUFFIX ".hostler.so"
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${ARG_FOLDER})
  target_link_options(hostler_driver_${name} PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/sdk/driver.map
    -Wl,--exclude-libs,ALL)
  if(NOT HOSTLER_SANITIZE)  # the sanitizer runtime lives in the executable
    target_link_options(hostler_driver_${name} PRIVATE -Wl,-z,defs)
  endif()
  if(NOT ARG_NO_MANIFEST)  # hosts load nothing that others may write to
    add_dependencies(hostler_driver_${name} hostler-manifest ${ARG_FILES})
    list(TRANSFORM ARG_FILES REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE own_files)
    # Else the manifest is not made again when one of them changes.
    set_target_properties(hostler_driver_${name} PROPERTIES LINK_DEPENDS "${own_files}")
    add_custom_command(TARGET hostler_driver_${name} POST_BUILD VERBATIM
      COMMAND chmod go-w $<TARGET_FILE:hostler_driver_${name}> ${own_files}
      COMMAND hostler-manifest $<TARGET_FILE:hostler_driver_${name}>
        ${PROJECT_BINARY_DIR}/${ARG_FOLDER}/${name}.hostler.json ${ARG_SANDBOX} ${own_files})
  endif()
  if(HOSTLER_TESTS AND NOT ARG_NO_MANIFEST)
    find_package(Python3 COMPONENTS Interpreter REQUIRED)
    add_test(NAME abi.exports.${name} COMMAND Python3::Interpreter
      ${PROJECT_SOURCE_DIR}/tests/abi/exports.py
      ${PROJECT_SOURCE_DIR}/sdk/driver.map $<TARGET_FILE:hostler_driver_${name}>)
    set_tests_properties(abi.exports.${name} PROPERTIES LABELS abi)
    set_target_properties(hostler_driver_${name} PROPERTIES EXCLUDE_FROM_ALL OFF)  # that test is never left out
    hostler_tests_need(LABELS abi TARGETS hostler_driver_${name})
  endif()
endfunction()

# hostler_test(<name> LABEL unit|abi|sim|integration [SERIAL] [NIGHTLY_ASAN] [TIMEOUT <seconds>] [FILTER <filter>]
#              SOURCES <cc>... DEPS <layers>... [DEFINES <name>=<value>...])
# SERIAL: nothing runs beside it, neither a test nor, in .ci/run, a build, for it acts on the whole machine.
# NIGHTLY_ASAN: asan watches it in .ci/nightly only, for it computes for long, in pure code.
# TIMEOUT: of each of its cases, 120 unless told.
# FILTER: what of it is a test of its own (a --gtest_filter); the folder adds the rest by add_test.
# The folder's name is a second label. `tests-<label>` builds all tests of a label.
# Several files are compiled as one: half of the work of a build was to read GoogleTest's headers.
function(hostler_test name)
  cmake_parse_arguments(ARG "SERIAL;NIGHTLY_ASAN" "LABEL;TIMEOUT;FILTER" "SOURCES;DEPS;DEFINES" ${ARGN})
  find_package(GTest CONFIG REQUIRED)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
    UNITY_BUILD ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE hostler_flags ${ARG_DEPS} GTest::gmock GTest::gtest_main
    Threads::Threads)
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINES})
  target_compile_options(${name} PRIVATE ${HOSTLER_TEST_OPTIONS})
  if(HOSTLER_TEST_HEADERS)
    target_precompile_headers(${name} REUSE_FROM hostler_test_headers)
  endif()
  include(GoogleTest)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(labels ${ARG_LABEL} ${folder})
  list(REMOVE_DUPLICATES labels)
  hostler_tests_need(LABELS ${labels} TARGETS ${name})
  if(ARG_SERIAL)
    list(APPEND labels serial)
  endif()
  if(ARG_NIGHTLY_ASAN)
    list(APPEND labels nightly_asan)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER "${ARG_FILTER}"
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL ${ARG_SERIAL})
  # Not by PROPERTIES above: it takes a list apart, and only the first label would stay.
  set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  file(WRITE ${labels_file} "if(${name}_TESTS)
  set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${labels}\")
endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
endfunction()
