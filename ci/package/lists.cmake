# SPDX-License-Identifier: Apache-2.0
# write_list(TEMPLATE OUTPUT FOLDER Entry kind source...): the registry of one folder, in which stem = function = name on
# the command line. A source that is a relative path belongs to the tree, and its stem is looked up there.
function(write_list template output folder Entry kind)
  set(declarations "")
  set(calls "")
  set(stems "")
  foreach(source ${ARGN})
    get_filename_component(stem ${source} NAME_WE)
    if(stem IN_LIST stems) # two functions of one name: the linker would take one of them in silence
      message(FATAL_ERROR "${source}: another file of ${folder}/ has this name too, and both would define ${stem}()")
    endif()
    list(APPEND stems ${stem})
    if(Entry STREQUAL Claim)
      string(APPEND declarations "std::vector<Claim> ${stem}(); ")
    else()
      string(APPEND declarations "${Entry} ${stem}(); ")
    endif()
    string(APPEND calls "add(list, \"${stem}\", \"${source}\", ${folder}::${stem}()); ")
  endforeach()
  configure_file(${template} ${output} @ONLY)
endfunction()
