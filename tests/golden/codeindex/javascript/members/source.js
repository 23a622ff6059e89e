class A { x = 1 }
test('one', function () { return 1 })
