import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { moveFocus } from './move-focus.ts';

export interface Tab<N extends string> {
  readonly name: N;
  readonly title: ComponentChildren;
}

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

/** One of several views of the same thing; keep `current` in the query, so that it can be linked to. */
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
        onKeyDown={(event) => moveFocus(event, '[role=tab]', STEPS)}
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
