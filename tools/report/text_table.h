// Plain text for people: byte counts and aligned tables.
#ifndef YUBA_TOOLS_REPORT_TEXT_TABLE_H_
#define YUBA_TOOLS_REPORT_TEXT_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace yuba::tools {

// "436.5 MB"; MB is 10^6 bytes. Small counts are "312 B", "4.1 kB", large ones "12.3 GB", "9.2 EB".
std::string Bytes(int64_t bytes);

// "+52.8 kB", "−960 B": a difference.
std::string SignedBytes(int64_t bytes);

// "850 ns", "12.3 us", "4.56 ms", "1.23 s".
std::string Duration(int64_t nanoseconds);

// One unit for the byte counts of a table, so that its cells can be compared: that of the largest
// count. Example: of 28,704 bytes the unit is kB, and the cells are "28.7", "4.6", "<0.1" and "–".
class ByteUnit {
 public:
  explicit ByteUnit(int64_t largest);
  const std::string& name() const { return name_; }  // "kB", for a heading
  // Without the unit, with as many decimals in every cell; 0 is "–", what would be cut to 0 "<0.1".
  std::string Text(int64_t bytes) const;

 private:
  std::string name_;
  double size_ = 1;
  int decimals_ = 0;
};
// The number of MB alone, one decimal, more where it is small: "436.5", "0.004", "0.000096"; 0 is
// "–".
std::string Megabytes(int64_t bytes);
// "25.5 M", "262.0 G", "9.2 E": a count with a decimal prefix.
std::string Count(double count);

// "1 node", "3 nodes"; CountedShortly: "11.6 k parameters".
std::string Counted(int64_t count, const std::string& what);
std::string CountedShortly(int64_t count, const std::string& what);

// "a, b, c, d, e and 4 more": the first five of many names.
std::string FirstOf(std::vector<std::string> names);

// The sum of two counts that are not negative; the largest int64_t where it does not fit.
int64_t SaturatingSum(int64_t a, int64_t b);

// Rows of cells; columns are padded to the widest cell (UTF-8 counted by characters).
class TextTable {
 public:
  // Columns from number `right_from` on (the first is 0) are aligned right.
  explicit TextTable(size_t right_from) : right_from_(right_from) {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  std::string ToString(const std::string& indent = "") const;

 private:
  size_t right_from_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_TEXT_TABLE_H_
