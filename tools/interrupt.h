// Ctrl-C asks a search for its end, and once more ends the program.
#ifndef YUBA_TOOLS_INTERRUPT_H_
#define YUBA_TOOLS_INTERRUPT_H_

namespace yuba::tools {

// While there is one, the first SIGINT or SIGTERM is but noted; the next does what it did before. A
// signal that is ignored stays so. One at a time.
class InterruptNote {
 public:
  InterruptNote();
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

  // Whether one came. From any thread.
  static bool Came();
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_INTERRUPT_H_
