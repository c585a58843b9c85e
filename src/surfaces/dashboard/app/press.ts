const DEFAULTS = {
  /** Milliseconds after the end of a touch by which the browser has made a click of it. */
  clickMs: 100,
};

let waiting: (() => void)[] = [];
let isPressed = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Resolves when no press is under way: what moves between the press of a button and its release takes the click away
 * from what was pressed, so that news wait for it.
 */
export function pressOver(): Promise<void> {
  return isPressed ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve();
}

function endIn(ms: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    isPressed = false;
    const released = waiting;
    waiting = [];
    for (const resolve of released) resolve();
  }, ms);
}

export function watchPresses(): void {
  const hear = (type: string, listener: (event: PointerEvent) => void) =>
    addEventListener(type, listener as EventListener, { capture: true, passive: true });
  hear('pointerdown', ({ button }) => {
    if (button !== 0) return;
    isPressed = true;
    clearTimeout(timer);
  });
  hear('pointerup', () => isPressed && endIn(DEFAULTS.clickMs));
  hear('click', () => isPressed && endIn(0));
  hear('pointercancel', () => isPressed && endIn(0));
  // The end of a press on a menu of the system is told to nobody.
  hear('keydown', () => isPressed && endIn(0));
  hear('pointermove', ({ buttons }) => isPressed && buttons === 0 && endIn(0));
}
