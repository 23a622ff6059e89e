// Definitions of every kind.
export const LIMIT = 3;
const first = 1,
  second = 2;
let counter = 0;

export default function main(a, b = 1, ...rest) {
  function inner(x) {
    return x * counter;
  }
  const local = 5;
  const bound = (y) => inner(y) + local;
  return bound(a);
}

export const arrow = async (x) => x + 1;
const left = (x) => x,
  right = function named(y) {
    return y;
  };
var old = function () {};
function* generator() {
  yield 1;
}

class Store extends Map {
  #size = 0;
  static created = 0;
  onChange = (event) => event.target;
  constructor(entries) {
    super(entries);
  }
  get size() {
    return this.#size;
  }
  set size(value) {
    this.#size = value;
  }
  static async *rows() {}
  #check() {}
  [Symbol.iterator]() {}
  'quoted name'() {}
}
const Anonymous = class {
  method() {}
};

export const api = {
  url: '/api',
  get() {},
  post: async (body) => body,
  'put-all': function (body) {},
  users: { list() {} },
};

module.exports = { helper() {} };
module.exports.exported = function (x) {};
exports.short = () => 1;
Store.prototype.legacy = function () {};
Store.make = () => new Store();
later = function () {};

const Button = React.memo(function Button({ label }) {
  return <b className="x">{label}</b>;
});
setTimeout(() => counter++, 10);
