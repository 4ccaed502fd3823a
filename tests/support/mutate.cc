#include "tests/support/mutate.h"

#include <cctype>

namespace yuba {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  bool in_word = false;
  for (char c : text) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (letter && in_word) {
      words.back() += c;
    } else {
      words.emplace_back(1, c);
    }
    in_word = letter;
  }
  return words;
}

}  // namespace

int64_t OddNumber(Random& random) {
  switch (Below(random, 6)) {
    case 0: return 0;
    case 1: return -1 - static_cast<int64_t>(Below(random, 5));
    case 2: return static_cast<int64_t>(Below(random, 9));
    case 3: return (int64_t{1} << Below(random, 63)) - 1 + static_cast<int64_t>(Below(random, 3));
    case 4: return INT64_MAX - static_cast<int64_t>(Below(random, 2));
    default: return INT64_MIN + static_cast<int64_t>(Below(random, 2));
  }
}

std::string MutateBytes(std::string bytes, Random& random) {
  const size_t changes = 1 + Below(random, 8);
  for (size_t i = 0; i < changes && !bytes.empty(); ++i) {
    const size_t at = Below(random, bytes.size());
    switch (Below(random, 5)) {
      case 0: bytes[at] = static_cast<char>(random()); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(random, 8))); break;
      case 2: bytes.erase(at, 1 + Below(random, 16)); break;
      case 3: bytes.insert(at, bytes.substr(Below(random, bytes.size()), Below(random, 16))); break;
      default:
        if (Below(random, 8) == 0) bytes.resize(at);
        break;
    }
  }
  return bytes;
}

std::string MutateWords(const std::string& text, const std::vector<std::string>& words,
                        Random& random) {
  std::vector<std::string> parts = Words(text);
  const size_t changes = 1 + Below(random, 4);
  for (size_t i = 0; i < changes && !parts.empty(); ++i) {
    const size_t at = Below(random, parts.size());
    switch (Below(random, 5)) {
      case 0: parts[at] = words[Below(random, words.size())]; break;
      case 1: parts.erase(parts.begin() + at); break;
      case 2: parts.insert(parts.begin() + at, parts[Below(random, parts.size())]); break;
      case 3: std::swap(parts[at], parts[Below(random, parts.size())]); break;
      default:
        if (std::isdigit(static_cast<unsigned char>(parts[at][0]))) {
          parts[at] = std::to_string(OddNumber(random));
        }
        break;
    }
  }
  std::string result;
  for (const std::string& part : parts) result += part;
  return result;
}

}  // namespace yuba
