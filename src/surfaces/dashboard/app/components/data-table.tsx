import type { ComponentChildren } from 'preact';
import { navigate } from '../router.ts';
import { SteadyRows } from './steady-rows.tsx';
import { moveFocus } from './tabs.tsx';

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Right-aligned, with tabular figures. */
  readonly isNumber?: boolean;
  /** Hidden on narrow screens. */
  readonly isExtra?: boolean;
}

/**
 * A table whose rows keep their place: rows are keyed, so that updates change cells, not the list. With
 * `hrefOf` a row is a link, and the arrow keys move between rows.
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
  /** The current filter: rows are held in place within one view. */
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
