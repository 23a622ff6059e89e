import Foundation
import class UIKit.UIView
@testable import Shop
#if canImport(Late)
import Late
#endif
