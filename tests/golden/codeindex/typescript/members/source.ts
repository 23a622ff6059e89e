class A { x = 1; private y?: string; f() {} }
interface I { a: string; m(): void }
enum E { A, B = 2 }
type T = { k: number; l(at: I): void; readonly m?: { inner: string } }; type W = T & { w: I };
describe('suite 1.5', () => { const helper = () => 1; it('does #2', async () => { expect(1) }, 50); test.each([1])('n %s', (n) => {}) })
