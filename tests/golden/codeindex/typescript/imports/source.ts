import type { Only } from "./types";
import fs = require("fs");
import value, { type Kind, other as renamed } from "../other.js";
export type { Shape } from "./shape";
export * as names from "./names";
import "./effect";
const page = () => import("./page");
