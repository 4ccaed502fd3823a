#include "tools/run/rank_output.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace yuba::tools {
namespace {

// Takes everything and keeps nothing.
class Silence : public std::streambuf {
 protected:
  int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

// Whole lines, each behind a prefix and in one write, so that those of several processes do not
// mix.
class PrefixedLines : public std::streambuf {
 public:
  PrefixedLines(std::string prefix, std::streambuf* to) : prefix_(std::move(prefix)), to_(to) {}
  ~PrefixedLines() override {
    if (!line_.empty()) Write();
  }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    line_.push_back(traits_type::to_char_type(c));
    return line_.back() == '\n' && !Write() ? traits_type::eof() : c;
  }

 private:
  bool Write() {
    const std::string text = absl::StrCat(prefix_, line_);
    line_.clear();
    const auto size = static_cast<std::streamsize>(text.size());
    return to_->sputn(text.data(), size) == size && to_->pubsync() == 0;
  }

  const std::string prefix_;
  std::streambuf* const to_;
  std::string line_;
};

std::unique_ptr<std::streambuf> BufferOf(int rank, bool all, std::streambuf* to) {
  if (all) return std::make_unique<PrefixedLines>(absl::StrCat("[rank ", rank, "] "), to);
  return std::make_unique<Silence>();
}

}  // namespace

RankOutput::RankOutput(int rank, bool all) : out_(std::cout.rdbuf()), errors_(std::cerr.rdbuf()) {
  if (rank == 0 && !all) return;
  own_out_ = BufferOf(rank, all, out_);
  own_errors_ = BufferOf(rank, all, errors_);
  std::cout.rdbuf(own_out_.get());
  std::cerr.rdbuf(own_errors_.get());
}

RankOutput::~RankOutput() { GiveBack(); }

void RankOutput::GiveBack() {
  std::cout.flush();
  // A new buffer takes away the note that something could not be written.
  const std::ios::iostate state = std::cout.rdstate();
  std::cout.rdbuf(out_);
  std::cout.setstate(state);
  std::cerr.rdbuf(errors_);
}

}  // namespace yuba::tools
