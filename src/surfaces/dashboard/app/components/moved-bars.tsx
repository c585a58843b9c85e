import './moved-bars.css';

export interface MovedRow {
  readonly name: string;
  /** In words. */
  readonly title: string;
  readonly moved: number;
}

/** Positive and negative contributions: bars to the right and left of a common line, with their figures. */
export function MovedBars({ label, rows }: { label: string; rows: readonly MovedRow[] }) {
  const greatest = Math.max(...rows.map(({ moved }) => Math.abs(moved)), Number.MIN_VALUE);
  return (
    <table class="moved" aria-label={label}>
      <tbody>
        {rows.map(({ name, title, moved }) => (
          <tr key={name}>
            <th scope="row">{title}</th>
            <td class="moved-cell" aria-hidden="true">
              <i
                class={moved < 0 ? 'moved-down' : 'moved-up'}
                style={{ width: `${(50 * Math.abs(moved)) / greatest}%` }}
              />
            </td>
            <td class="number">
              {moved < 0 ? '−' : '+'}
              {Math.abs(moved).toFixed(2)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
