import { effect, signal } from '@preact/signals';

const KEY = 'pml-theme';

export type Theme = 'light' | 'dark';

const prefersLight = matchMedia('(prefers-color-scheme: light)');
const chosen = signal<Theme | null>(read());
const system = signal<Theme>(prefersLight.matches ? 'light' : 'dark');

/** The current theme: the user's choice, else the system's, else dark. */
export function currentTheme(): Theme {
  return chosen.value ?? system.value;
}

export function switchTheme(): void {
  chosen.value = currentTheme() === 'dark' ? 'light' : 'dark';
}

export function followTheme(): void {
  prefersLight.addEventListener('change', ({ matches }) => {
    system.value = matches ? 'light' : 'dark';
  });
  effect(() => {
    const theme = chosen.value;
    if (theme === null) return;
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Without storage the choice lasts until the page is left.
    }
  });
}

function read(): Theme | null {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : null;
  } catch {
    return null;
  }
}
