const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** Arrow keys, Home and End go through what matches within the element the event is heard on. */
export function moveFocus(
  event: KeyboardEvent & { readonly currentTarget: EventTarget | null },
  selector: string,
  steps = STEPS,
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
