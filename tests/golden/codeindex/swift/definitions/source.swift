import Foundation

/// Keeps orders.
@available(iOS 13, *)
public final class Store<T: Codable>: Base, Keeps {
    let plain: Int = 5
    static let shared = Store()
    var size: Int { return items.count }
    var other: Int {
        get { 1 }
        set { print(newValue) }
    }
    var watched: Int = 0 {
        didSet { print(watched) }
    }
    lazy var late: Int = {
        return 3
    }()

    init(a: Int, b: String = "x") {
        self.a = a
    }

    convenience init?(x: Int) {
        return nil
    }

    deinit {
        print(1)
    }

    @discardableResult
    func put<K>(_ key: K, value v: inout Int, rest: Int...) throws -> Bool where K: Hashable {
        func nested() -> Int { v }
        return nested() > 0 // enough
    }

    func put(_ key: Int) async {}

    subscript(index: Int) -> Int {
        return index
    }

    static func == (lhs: Store, rhs: Store) -> Bool {
        true
    }

    class func make() {}

    enum Inner {
        case a, b(Int)

        func deep() {}
    }

    typealias Key = String
}

struct Point: Equatable {
    var x = 1
}

extension Store where T == Int {
    func extended() {}
}

extension Outer.Point: Codable {
    var double: Int { x * 2 }
}

protocol Keeps {
    associatedtype Item
    var plain: Int { get }

    func need(a: Int)
    init(a: Int)
}

enum Level: String {
    case one = "1"
}

actor Counter {
    func add() {}
}

func top(a: Int = 3) -> Int {
    a
}

let limit = 5
var mutable = 6
typealias Handler = (Int) -> Int

#if DEBUG
func debugging() {}
#endif
