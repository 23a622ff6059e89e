export function Before() {
  return <p>text</p>;
}

export function Broken() {
  return <p>text</b;
}

export function After() {
  return <p>more</p>;
}
