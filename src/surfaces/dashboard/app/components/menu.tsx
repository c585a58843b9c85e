import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { IconName } from './badge.tsx';
import { Button } from './button.tsx';
import { moveFocus } from './tabs.tsx';

export interface MenuItem {
  readonly title: string;
  readonly isDangerous?: boolean;
  onSelect(): void;
}

/** A button that opens a short list of actions. */
export function Menu({
  label,
  icon = 'more',
  items,
}: {
  label: string;
  icon?: IconName;
  items: readonly MenuItem[];
}) {
  const [isOpen, setOpen] = useState(false);
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!isOpen) return;
    ref.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const away = (event: Event) => {
      if (!ref.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', away);
    return () => document.removeEventListener('pointerdown', away);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    ref.current?.querySelector('button')?.focus();
  };
  return (
    <div class="menu" ref={ref}>
      <Button
        kind="quiet"
        icon={icon}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && (
        <div
          role="menu"
          class="menu-list"
          tabIndex={-1}
          aria-label={label}
          onKeyDown={(event) => {
            if (event.key === 'Escape') close();
            else moveFocus(event, '[role=menuitem]');
          }}
        >
          {items.map(({ title, isDangerous, onSelect }) => (
            <button
              key={title}
              type="button"
              role="menuitem"
              class={isDangerous ? 'dangerous' : undefined}
              onClick={() => {
                close();
                onSelect();
              }}
            >
              {title}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
