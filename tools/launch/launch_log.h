// What a launch says of ranks that were lost and of how it went on: on stderr, and where the run
// has a --log also in a file beside it, FILE.launch, a JSON object a line:
//
//   {"event":"lost","rank":2,"host":"a","reason":"...","after_step":57,"noticed":0.03,"ended":0.2}
//   {"event":"went on","devices":4,"from_step":50,"steps_twice":7,"plan":0.0,"load":0.9,
//    "step":0.4,"seconds":1.5}
//   {"event":"end","times":3,"devices":4,"steps_twice":21,"seconds":4.4}
//
// All times are seconds, as measured.
#ifndef YUBA_TOOLS_LAUNCH_LAUNCH_LOG_H_
#define YUBA_TOOLS_LAUNCH_LAUNCH_LOG_H_

#include <cstdint>
#include <string>

namespace yuba::tools {

struct Loss {
  int rank = -1;  // -1: none is named
  std::string host;
  std::string reason;      // empty: nobody has said one
  bool is_told = false;    // a rank has printed the reason
  int64_t after_step = 0;  // the last that was finished
  double noticed = 0;  // since that step, or since the ranks were started where none was finished
  double ended = 0;    // from there until all ranks had ended
};

// From a loss to the next finished step. Where ranks were lost again before that, since the first
// of these losses.
struct Return {
  int devices = 0;
  int64_t from_step = 0, steps_twice = 0;
  double plan = 0;  // for a program that was not there
  double load = 0;  // from the start of the ranks until all values were in place
  double step = 0;
  double seconds = 0;  // in all
};

class LaunchLog {
 public:
  // log: of the run; empty: only stderr has it. Where the run goes on, what is there stays.
  LaunchLog(const std::string& log, bool goes_on);

  void Lost(const Loss& loss);
  // What is done about it: "going on from step 50 with 4 devices".
  void Decided(const std::string& text) const;
  void WentOn(const Return& done);
  // The last line, where it went on at all.
  void End(int devices);

 private:
  void Write(const std::string& line) const;

  std::string path_;  // empty: none
  int64_t times_ = 0, steps_twice_ = 0;
  double seconds_ = 0;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_LAUNCH_LAUNCH_LOG_H_
