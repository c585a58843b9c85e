import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export interface Tab<N extends string> {
  readonly name: N;
  readonly title: ComponentChildren;
}

const ACROSS = { ArrowRight: 1, ArrowLeft: -1 };

/** Tabs; keep `current` in the query, so that it can be linked to. */
export function Tabs<N extends string>({
  label,
  tabs,
  current,
  onChange,
  children,
}: {
  label: string;
  tabs: readonly Tab<N>[];
  current: N;
  onChange: (name: N) => void;
  children: ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="tabs">
      <div
        role="tablist"
        class="tab-list"
        aria-label={label}
        tabIndex={-1}
        onKeyDown={(event) => moveFocus(event, '[role=tab]', ACROSS)}
      >
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === current}
            aria-controls={`${id}-panel`}
            tabIndex={name === current ? 0 : -1}
            onClick={() => onChange(name)}
            onFocus={() => name !== current && onChange(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}`} class="tab-panel">
        {children}
      </div>
    </div>
  );
}

const DOWN: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** Arrow keys, Home and End move through the matching elements inside the listening element. */
export function moveFocus(
  event: KeyboardEvent & { readonly currentTarget: EventTarget | null },
  selector: string,
  steps = DOWN,
): void {
  const all = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>(selector)];
  const at = all.indexOf(document.activeElement as HTMLElement);
  const step = steps[event.key];
  const next =
    event.key === 'Home'
      ? all[0]
      : event.key === 'End'
        ? all.at(-1)
        : step === undefined
          ? null
          : all[at + step];
  if (!next || at === -1) return;
  event.preventDefault();
  next.focus();
}
