/** With its sign, as differences are told. */
export function signed(value: number, digits = 3): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(digits)}`;
}
