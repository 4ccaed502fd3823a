// When a buffer is live and how large it is: all that the placing of buffers knows of a program.
#ifndef YUBA_COMPILER_MEMORY_BUFFER_LIFE_H_
#define YUBA_COMPILER_MEMORY_BUFFER_LIFE_H_

#include <cstdint>

namespace yuba::compiler {

struct BufferLife {
  int64_t begin = 0, end = 0;  // its lifespan: instructions [begin, end), one at least
  int64_t size = 0;            // bytes; 0: it takes no space and overlaps nothing
};

// Whether both are live at some instruction, so that they must not share bytes.
inline bool LiveAtOnce(const BufferLife& a, const BufferLife& b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MEMORY_BUFFER_LIFE_H_
