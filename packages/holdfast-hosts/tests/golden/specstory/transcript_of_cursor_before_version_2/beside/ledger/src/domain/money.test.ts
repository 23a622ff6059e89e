export function total(amounts) {
