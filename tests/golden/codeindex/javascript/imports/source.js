import 'side-effect';
import one, { two as deux, three } from './module.js';
import * as everything from "package";
export * from './again';
export { four as quatre } from '../up';
const fs = require('fs');
const { join, sep: separator } = require('path');
const name = 'x';
require(name);
async function lazy() {
  const page = await import('./page.js');
  return import(`./${name}.js`);
}
