export type Pair<T = string> = { left: T; right: T } | null;
type Callback = (error: Error | null) => void;

export interface Shape<T> extends Base, Other<T> {
  name?: string;
  readonly size: number;
  area(scale: number): number;
  (x: number): string;
  [key: string]: unknown;
}

export enum Color {
  Red = 1,
  Green = "g",
}
declare const enum Flag { A }

declare function ambient(a: number): void;
declare module "untyped" {
  export function inner(): void;
}
namespace Outer.Inner {
  export const limit = 1;
  export function within() {}
}

function over(a: string): string;
function over(a: number): number;
function over(this: Window, a: any, b?: string, c = 1 as const, { d }: { d: number } = { d: 1 }): any {
  return a;
}

export abstract class Circle<T> extends Figure<T> implements Shape<T>, Other<T> {
  private readonly radius: number = 1;
  handler = async (event: Event): Promise<void> => {};
  constructor(private a: string, public b?: number) {
    super();
  }
  abstract grow(): void;
  scale(by: string): void;
  scale(by: number): void;
  @logged({ level: 1 })
  scale(by: any, ...more: string[]): void {}
  static get unit(): Circle<number> {
    return new UnitCircle<number>();
  }
}

@Component({ selector: "page" })
export class Page {}

export const identity = <T>(x: T): T => x;
export const defaults: Record<string, number> = new Map<string, number>() as any;
export const typed: Callback = function (error) {};
function assertText(value: unknown): asserts value is string {}
export default { setup() {} };
