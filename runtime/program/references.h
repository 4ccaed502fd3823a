// A program's references to values in files, and the ranges of opsemantics/base/file_range.h.
#ifndef YUBA_RUNTIME_PROGRAM_REFERENCES_H_
#define YUBA_RUNTIME_PROGRAM_REFERENCES_H_

#include "opsemantics/base/file_range.h"
#include "runtime/program/program.pb.h"

namespace yuba::runtime {

inline FileRange RangeOf(const program::Reference& reference) {
  return {reference.file(), reference.offset(), reference.length(), reference.file_size()};
}

// Without a checksum.
inline program::Reference ReferenceTo(const FileRange& range) {
  program::Reference reference;
  reference.set_file(range.file);
  reference.set_offset(range.offset);
  reference.set_length(range.length);
  reference.set_file_size(range.file_size);
  return reference;
}

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_REFERENCES_H_
