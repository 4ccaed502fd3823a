// What goes on, while a command works: on a terminal one line that is drawn again and again, else,
// where it is asked for, a line whenever something changed, at most one a second and at least
// one in ten seconds. On stderr.
//
//   searching  12.3 s  axes  plan 465.2 MB  bound 460.1 MB  gap 1.10 %
//
// Example:
//   ProgressLine progress(flags.progress);
//   ProgressLine::Begin("searching");
//   ProgressLine::Say("axes  plan 465.2 MB");
//
// Begin, Say and End are of the line that exists, from any thread; where there is none they do
// nothing, so rooms need not know whether somebody looks.
#ifndef YUBA_TOOLS_TERMINAL_PROGRESS_LINE_H_
#define YUBA_TOOLS_TERMINAL_PROGRESS_LINE_H_

#include <memory>
#include <string>

namespace yuba::tools {

class ProgressLine {
 public:
  // Draws where stderr is a terminal; else, with `asked` (--progress), writes lines. Otherwise it
  // does nothing. Only one exists at a time.
  explicit ProgressLine(bool asked);
  ~ProgressLine();  // wipes the line
  ProgressLine(const ProgressLine&) = delete;

  // What goes on from now; its seconds count from here.
  static void Begin(const std::string& phase);
  // How far it is; stays until the next Say or Begin.
  static void Say(const std::string& words);
  // Wipes the line, and draws none until the next Begin: before something else is written.
  static void End();

 private:
  class Drawer;
  std::unique_ptr<Drawer> drawer_;  // null: nobody looks
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_TERMINAL_PROGRESS_LINE_H_
