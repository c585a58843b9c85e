/** With its sign, as differences are told; what is shown as 0 has neither. */
export function signed(value: number, digits = 3): string {
  const figure = Math.abs(value).toFixed(digits);
  const sign = Number(figure) === 0 ? '±' : value < 0 ? '−' : '+';
  return `${sign}${figure}`;
}
