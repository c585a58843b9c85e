import type { ComponentChildren } from 'preact';
import { navigate } from '../router.ts';
import { SteadyRows } from './steady-rows.tsx';
import { moveFocus } from './tabs.tsx';

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Right-aligned figures that line up. */
  readonly isNumber?: boolean;
  /** Left out on narrow screens. */
  readonly isExtra?: boolean;
}

/**
 * Rows that keep their place: each is known by its key, so that news change cells, not the list. With
 * `hrefOf` a row is a link, and the arrow keys go from row to row.
 */
export function DataTable<T>({
  label,
  rows,
  columns,
  keyOf,
  hrefOf,
  isCurrent,
  view,
  newsOf,
}: {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  hrefOf?: (row: T) => string;
  isCurrent?: (row: T) => boolean;
  /** What narrows the rows down: they are held for one view at a time. */
  view?: string;
  newsOf?: (count: number) => string;
}) {
  const className = ({ isNumber, isExtra }: Column<T>) =>
    [isNumber && 'number', isExtra && 'extra'].filter(Boolean).join(' ');
  return (
    <SteadyRows rows={rows} keyOf={keyOf} view={view} newsOf={newsOf}>
      {(steady) => (
        <div class="table-scroll">
          <table
            class="table"
            aria-label={label}
            onKeyDown={hrefOf && ((event) => moveFocus(event, 'a.row-link'))}
          >
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column.title} scope="col" class={className(column)}>
                    {column.title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {steady.map((row) => {
                const href = hrefOf?.(row);
                return (
                  <tr
                    key={keyOf(row)}
                    data-row={keyOf(row)}
                    class={href ? 'row-linked' : undefined}
                    aria-current={isCurrent?.(row) ? 'true' : undefined}
                    onClick={(event) => {
                      if (href && !(event.target as Element).closest('a, button, input, select'))
                        navigate(href);
                    }}
                  >
                    {columns.map((column, at) => (
                      <td key={column.title} class={className(column)}>
                        {href && at === 0 ? (
                          <a class="row-link" href={href}>
                            {column.cell(row)}
                          </a>
                        ) : (
                          column.cell(row)
                        )}
                      </td>
                    ))}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </SteadyRows>
  );
}
