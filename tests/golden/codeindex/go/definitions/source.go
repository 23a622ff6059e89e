// Package shop sells.
package shop

const Limit, Other = 3, 4
const (
	First = iota
	Second
)

var ErrEmpty = errors.New("empty")
var (
	count int
	hook  = func(n int) {}
)

type Order struct {
	Lines []Line `json:"lines"`
	*Base
}

type (
	Priced interface {
		Price(at time.Time) int
		fmt.Stringer
	}
	Handler func(int) error
	Alias   = string
	Table[K comparable, V any] map[K]V
)

type Number interface{ ~int | ~float64 }

func Fetch(url string, retries int, rest ...string) (body []byte, err error) {
	again := func() { count++ }
	again()
	return nil, nil
}

func (o *Order) Total(rate float64) int { return 0 }
func (t Table[K, V]) Get(key K) V       { return t[key] }
func (Order) Unnamed()                  {}
func Map[K comparable](xs []K) []K      { return xs }
func init()                             {}
func init()                             {}
func external(x int) int
