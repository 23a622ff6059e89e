package shop

import "fmt"
import (
	m "math"
	. "os"
	_ "example.com/driver"

	"example.com/shop/orders"
)
