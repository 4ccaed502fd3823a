// Ctrl-C asks a search to end with the best plan so far, and a run to end after its step; once more
// it ends the program.
#ifndef YUBA_TOOLS_INTERRUPT_H_
#define YUBA_TOOLS_INTERRUPT_H_

namespace yuba::tools {

// What is said of a search.
constexpr char kSearchStops[] = "stopping with the best so far; once more ends at once\n";

// While an InterruptNote exists, the first SIGINT, SIGTERM or SIGUSR1 (which batch systems send
// some time before they end a job) is only noted, and `words` are written to stderr, which must
// stay; the next does what it did before. A signal that was ignored stays ignored. Only one exists
// at a time.
class InterruptNote {
 public:
  explicit InterruptNote(const char* words);
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

  // Whether a signal came since the note was made. From any thread.
  static bool Came();
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_INTERRUPT_H_
