// Learning rates of each step against their formulas, and the text of a step's line.
#include "tools/run/data/schedule.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "tests/support/command.h"
#include "tests/support/status_matchers.h"
#include "tools/run/progress.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {
namespace {

Schedule Read(const std::string& text) {
  const auto schedule = ReadSchedule(text);
  INFO(text);
  REQUIRE_THAT(schedule, IsOk());
  return *schedule;
}

TEST_CASE("rates rise to the peak and fall to the end") {
  const double pi = std::acos(-1);
  const Schedule cosine = Read("cosine:0.8,warmup=3,steps=11,end=0.2"),
                 linear = Read("linear:0.8,steps=11,end=0.2,warmup=3");
  for (int step = 1; step <= 3; ++step) {
    CHECK(cosine.At(step) == Approx(0.2 * step));
    CHECK(linear.At(step) == Approx(0.2 * step));
  }
  for (int step = 4; step <= 11; ++step) {
    INFO(step);
    const double done = (step - 4) / 8.0;
    CHECK(cosine.At(step) == Approx(0.5 + 0.3 * std::cos(pi * done)));
    CHECK(linear.At(step) == Approx(0.8 - 0.6 * done));
  }
  CHECK(cosine.At(4) == 0.8);
  CHECK(cosine.At(8) == Approx(0.5));
  for (const int step : {12, 13, 1'000'000}) {
    CHECK(cosine.At(step) == 0.2);
    CHECK(linear.At(step) == 0.2);
  }
  CHECK(Read("cosine:1,steps=2").At(1) == 1);
  CHECK(Read("cosine:1,steps=2").At(2) == Approx(0.5));
  CHECK(Read("linear:1,steps=2").At(3) == 0);
}

TEST_CASE("constant rates, and rates of a file") {
  CHECK(Read("1e-3").At(7) == 1e-3);
  CHECK(Read("constant:0.5").At(1) == 0.5);
  const Schedule warm = Read("constant:0.5,warmup=4");
  CHECK(warm.At(1) == Approx(0.1));
  CHECK(warm.At(4) == Approx(0.4));
  CHECK(warm.At(5) == 0.5);
  CHECK(warm.At(500) == 0.5);
  const std::string file = ScratchFolder("rates") + "/rates.txt";
  std::ofstream(file) << "0.1\n 2e-2 \r\n0\n0.05\n\n";
  const Schedule list = Read(file);
  const double rates[] = {0.1, 0.02, 0, 0.05, 0.05, 0.05};
  for (int step = 1; step <= 6; ++step) CHECK(list.At(step) == rates[step - 1]);
}

TEST_CASE("what is no schedule is refused, with the part that is wrong") {
  const auto refuses = [](const std::string& text, const std::string& why) {
    CHECK_THAT(ReadSchedule(text), StatusIs(absl::StatusCode::kInvalidArgument, why));
  };
  refuses("-1", "-1 is no number from 0 on, no schedule");
  refuses("nan", "and no file with a number a line: nan: cannot be read");
  refuses("cosine:x,steps=3", "cosine:x,steps=3: 'x' is no number from 0 on");
  refuses("cosine:1", "steps=N is needed, greater than warmup=0");
  refuses("linear:1,warmup=5,steps=5", "steps=N is needed, greater than warmup=5");
  refuses("linear:1,warmup=-5,steps=5", "'warmup=-5' has no number of its kind");
  refuses("linear:1,steps=2.5", "'steps=2.5' has no number of its kind");
  refuses("linear:1,steps=5,end=-1", "'end=-1' has no number of its kind");
  refuses("constant:1,steps=5", "'steps=5' is unknown: it has warmup=N");
  refuses("cosine:1,steps=5,ends=1", "'ends=1' is unknown: it has warmup=N, steps=N and end=RATE");
  const std::string file = ScratchFolder("wrong_rates") + "/rates.txt";
  const auto refuses_list = [&](const std::string& list, const std::string& why) {
    std::ofstream(file) << list;
    refuses(file, why);
  };
  refuses_list("0.1\n0.2x\n", "rates.txt:2: '0.2x' is no number from 0 on");
  refuses_list("0.1\n\n0.2\n", "rates.txt:2: '' is no number from 0 on");
  refuses_list("", "rates.txt:1: '' is no number");
  refuses_list("0.1 0.2\n", "rates.txt:1: '0.1 0.2' is no number");
  refuses_list("inf\n", "rates.txt:1: 'inf' is no number");
}

TEST_CASE("a step's line says its numbers, rates, bytes, and how long the rest will take") {
  StepReport report;
  report.name = "step 12";
  report.numbers = {{"loss", 2.3015}, {"lr", 1e-3}};
  report.seconds = 0.8;
  report.moved = 12'300'000;
  report.memory = 35'000'000;
  CHECK(LineOf(report) ==
        "step 12  loss 2.3015  lr 0.001  800.0 ms  1.25 steps/s  moved 12.3 MB  memory 35.0 MB");
  report.examples = 64;
  report.timed = true;
  report.copying = 0.014;
  report.waiting = 0.07;
  report.left = 3680.4;
  CHECK(LineOf(report) ==
        "step 12  loss 2.3015  lr 0.001  800.0 ms  1.25 steps/s  80.0 examples/s  moved 12.3 MB  "
        "memory 35.0 MB  copying 1 %  waiting 7 %  ETA 1:01:20");
  CHECK(Duration(59.6) == "0:01:00");
  CHECK(Duration(0.2) == "0:00:00");
  CHECK(Duration(360000) == "100:00:00");
}

TEST_CASE("shares of a step's time are known where the host waits for each instruction") {
  RunFlags flags;
  CHECK(flags.SeesKinds());
  flags.backend = "cuda";
  CHECK(!flags.SeesKinds());
  flags.trace = "trace.json";
  CHECK(flags.SeesKinds());
  flags.interleave = 1;
  CHECK(!flags.SeesKinds());
}

}  // namespace
}  // namespace yuba::tools
