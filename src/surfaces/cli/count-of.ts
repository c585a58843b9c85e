/** `1 trace`, `12,345 traces` */
export function countOf(count: number, thing: string, things = `${thing}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? thing : things}`;
}
