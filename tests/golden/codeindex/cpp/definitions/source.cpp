#include <vector>

namespace shop::orders {

class Declared;

class EXPORT Order : public Base, private Other {
 public:
  explicit Order(int count = 1) : count_(count), rest_{2} {}
  virtual ~Order() = default;
  Order& operator=(const Order&) = delete;
  explicit operator bool() const { return true; }
  bool operator<(const Order& other) const { return false; }
  virtual int Total(double rate) const = 0;
  void Declared(int a);
  void Add(int line);
  void Add(const std::string& line) { lines_.push_back(line); }
  template <class T>
  T Convert(T value) { return value; }
  struct Line { int price; };
  enum class State : int { kOpen, kClosed };
  using Lines = std::vector<Line>;

 private:
  int count_ GUARDED_BY(mutex_);
};

template <typename T>
void Table<T>::Put(const T& value) {}
Order::Order(const Order& other) : count_(other.count_) {}
Order::~Order() {}
void Order::Declared(int a) {}
int& Reference() { return value; }
std::vector<int>* Pointer() { return nullptr; }
template <>
int Special<int>(int a) { return a; }

namespace {
int Hidden() { return 1; }
}  // namespace

constexpr int kLimit = 3;
auto twice = [](int x) { return x * 2; };

}  // namespace shop::orders

enum class Color : char { kRed, kGreen };
using Ints = std::vector<int>;
typedef std::vector<Ints> Rows;
template <typename T>
concept Sized = requires(T t) { t.size(); };
extern "C" {
int c_function(int a) { return a; }
}
auto trailing(int a) -> int { return a; }
Vector operator+(Vector a, Vector b) { return a; }
Order::operator int() { return 1; }
[[nodiscard]] int attributed() { return 1; }
int main() try { return 0; } catch (...) { return 1; }
