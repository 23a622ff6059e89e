package a
type T struct {
	Name string `json:"n"`
	A, B int
}
