// Search, copy buttons, theme and the menu of narrow screens. Without it every page still reads.
const ROOT = document.documentElement.dataset.root;
const MOST = 12;

const menu = document.querySelector('.menu');
const narrow = matchMedia('(max-width: 800px)');
const openMenu = () => menu.toggleAttribute('open', !narrow.matches);
narrow.addEventListener('change', openMenu);
openMenu();
document.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });

const themeButton = document.querySelector('.theme');
themeButton.hidden = false;
themeButton.addEventListener('click', () => {
  const isDark = getComputedStyle(document.documentElement).colorScheme === 'dark';
  const theme = isDark ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem('pml-theme', theme);
  } catch {
    // Without storage the choice lasts until the page is left.
  }
});

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('pre').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  block.append(button);
}

const form = document.querySelector('.search');
const field = form.querySelector('input');
const list = form.querySelector('ul');
let loading;
let index = [];
let shown = '';

/** Every word must begin a word of the passage; titles and headings weigh more than text. */
function find(query) {
  const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  if (words.length === 0) return [];
  const found = index.flatMap(({ path, title, passages }) =>
    passages.flatMap(([id, heading, text], i) => {
      let score = 0;
      for (const word of words) {
        const starts = (where) =>
          ` ${where.toLowerCase()}`.search(new RegExp(`[^\\p{L}\\p{N}]${word}`, 'u')) >= 0;
        const points = (starts(heading) ? 6 : 0) + (starts(title) ? 3 : 0) + (starts(text) ? 1 : 0);
        if (points === 0) return [];
        score += points;
      }
      return [{ path, title, id: i === 0 ? '' : `#${id}`, heading, text, score: score + (i === 0 ? 1 : 0) }];
    }),
  );
  return found.sort((a, b) => b.score - a.score).slice(0, MOST);
}

async function show() {
  loading ??= fetch(`${ROOT}search.json`).then((reply) => reply.json());
  try {
    index = await loading;
  } catch {
    loading = undefined;
    return;
  }
  const query = field.value.trim();
  list.hidden = query === '';
  // The same list once more would take the focus from a link in it.
  if (query === shown) return;
  shown = query;
  const found = find(query);
  list.replaceChildren(
    ...found.map(({ path, title, id, heading, text }) => {
      const link = document.createElement('a');
      link.href = `${ROOT}${path}${id}`;
      link.textContent = heading === title ? title : `${title}: ${heading}`;
      const about = document.createElement('small');
      about.textContent = text.slice(0, 140);
      link.append(about);
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
  if (query !== '' && found.length === 0) {
    const item = document.createElement('li');
    item.className = 'nothing';
    item.textContent = 'Nothing found';
    list.append(item);
  }
}

field.addEventListener('input', () => void show());
form.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelector('a')?.click();
});
form.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    list.hidden = true;
    field.focus();
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const stops = [field, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus();
});
document.addEventListener('keydown', (event) => {
  const isTyping = /^(?:INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '');
  if (event.key !== '/' || isTyping) return;
  event.preventDefault();
  field.focus();
});
