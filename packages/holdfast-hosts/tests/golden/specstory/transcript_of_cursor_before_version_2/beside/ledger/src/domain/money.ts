export function total(amounts) {
  return toCents(amount);
}

function toCents(amount) {
  return Math.round(amount * 100);
}
