// The main of every Catch2 test. It writes one entry for each test case to the file that Bazel
// names; Catch2's own JUnit reporter would count assertions.

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

std::string XmlEscape(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '&')
      escaped += "&amp;";
    else if (c == '"')
      escaped += "&quot;";
    else if (static_cast<unsigned char>(c) >= ' ')
      escaped += c;
  }
  return escaped;
}

class CaseCounter : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo&) override {
    skip_reason_.clear();
    // Stays behind if the case crashes, or leaves the program as if all were well.
    WriteXml(tests_ + 1, 1);
  }

  bool assertionEnded(const Catch::AssertionStats& stats) override {
    // Catch2 2 has no SKIP(): WARN("SKIP: why") followed by a return stands for it.
    for (const Catch::MessageInfo& info : stats.infoMessages) NoteSkip(info.message);
    if (stats.assertionResult.getResultType() == Catch::ResultWas::Warning)
      NoteSkip(stats.assertionResult.getMessage());
    return true;
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    ++tests_;
    cases_ += "  <testcase name=\"" + XmlEscape(stats.testInfo.name) + "\"";
    if (!stats.totals.assertions.allOk()) {
      ++failures_;
      cases_ += "><failure/></testcase>\n";
    } else if (!skip_reason_.empty()) {
      ++skipped_;
      cases_ += "><skipped message=\"" + XmlEscape(skip_reason_) + "\"/></testcase>\n";
    } else {
      cases_ += "/>\n";
    }
  }

  void testRunEnded(const Catch::TestRunStats&) override { WriteXml(tests_, 0); }

 private:
  void NoteSkip(const std::string& message) {
    if (message.rfind("SKIP: ", 0) == 0) skip_reason_ = message.substr(6);
  }

  void WriteXml(int tests, int errors) const {
    const char* path = std::getenv("XML_OUTPUT_FILE");
    if (path == nullptr) return;
    std::ofstream file(path);
    file << "<testsuite tests=\"" << tests << "\" failures=\"" << failures_ << "\" errors=\""
         << errors << "\" skipped=\"" << skipped_ << "\">\n";
    if (errors == 0) file << cases_;
    file << "</testsuite>\n";
  }

  int tests_ = 0, failures_ = 0, skipped_ = 0;
  std::string cases_, skip_reason_;
};

CATCH_REGISTER_LISTENER(CaseCounter)

}  // namespace
